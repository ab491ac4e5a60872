package syncs_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/syncs"
)

// The order is that of LockAsync, not that of Wait.
func TestBubbleTicketOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 6
		var m syncs.FairMutex
		m.TryLock()
		var tickets []*syncs.Ticket
		for range n {
			tickets = append(tickets, m.LockAsync())
		}
		last := waitFor(1, func() error { return m.Lock(context.Background()) })
		var order []int
		for i, k := range slices.Backward(tickets) { // by other goroutines, in another order
			go func() {
				if err := k.Wait(context.Background()); err != nil {
					t.Error(err)
				}
				order = append(order, i)
				m.Unlock()
			}()
			synctest.Wait()
		}
		m.Unlock()
		if last() != 1 || !slices.Equal(order, []int{0, 1, 2, 3, 4, 5}) {
			t.Errorf("order %v, and then %d", order, last())
		}
		m.Unlock()
		if !m.Idle() {
			t.Error("something is left")
		}
	})
}

// A ticket's turn comes before its Wait: the lock waits to be collected, and everybody else for that.
func TestBubbleTicketIsCollected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m syncs.FairMutex
		k := m.LockAsync() // free: the ticket has the lock already
		if m.TryLock() {
			t.Error("the lock is free")
		}
		next := m.LockAsync()
		behind := waitFor(1, func() error { return m.Lock(context.Background()) })
		if err := k.Wait(context.Background()); err != nil {
			t.Error(err)
		}
		m.Unlock()
		time.Sleep(time.Hour)
		if behind() != 0 || m.TryLock() {
			t.Error("the lock was taken from a ticket")
		}
		if err := next.Wait(context.Background()); err != nil {
			t.Error(err)
		}
		m.Unlock()
		if behind() != 1 {
			t.Error("who was behind did not get it")
		}
	})
}

// Cancel at each point of a ticket's life, and then once more: the others behind go on, and the lock is not lost.
func TestBubbleTicketCancel(t *testing.T) {
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	for name, give := range map[string]func(k *syncs.Ticket){
		"Cancel":      func(k *syncs.Ticket) { k.Cancel(); k.Cancel() },
		"Wait":        func(k *syncs.Ticket) { _ = k.Wait(canceled) },
		"Wait, twice": func(k *syncs.Ticket) { _, _ = k.Wait(canceled), k.Wait(canceled) },
		"both":        func(k *syncs.Ticket) { k.Cancel(); _ = k.Wait(canceled) },
		"both, other": func(k *syncs.Ticket) { _ = k.Wait(canceled); k.Cancel() },
	} {
		for _, when := range []string{"free", "queued", "handed over"} {
			synctest.Test(t, func(t *testing.T) {
				var m syncs.FairMutex
				if when != "free" {
					m.TryLock()
				}
				k := m.LockAsync()
				behind := waitFor(1, func() error { return m.Lock(context.Background()) })
				if when == "handed over" {
					m.Unlock()
				}
				if behind() != 0 {
					t.Fatal("too early")
				}
				give(k)
				if when == "queued" {
					if behind() != 0 {
						t.Fatal("the lock has two holders")
					}
					m.Unlock()
				}
				if behind() != 1 || m.TryLock() {
					t.Fatalf("%s, %s: the lock is lost", name, when)
				}
				if err := k.Wait(context.Background()); err != context.Canceled {
					t.Errorf("%s, %s: a Wait after that: %v", name, when, err)
				}
				m.Unlock()
				if !m.Idle() {
					t.Errorf("%s, %s: something is left", name, when)
				}
			})
		}
	}
}

// Cancel while Wait waits ends that; after it has returned nil it does not touch the lock.
func TestBubbleTicketCancelDuringWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m syncs.FairMutex
		m.TryLock()
		k := m.LockAsync()
		got := make(chan error, 1)
		go func() { got <- k.Wait(context.Background()) }()
		synctest.Wait()
		k.Cancel()
		if err := <-got; err != context.Canceled || m.Queued() {
			t.Error(err)
		}
		k = m.LockAsync()
		go func() { got <- k.Wait(context.Background()) }()
		synctest.Wait()
		m.Unlock()
		k.Cancel() // too late: it has the lock
		if err := <-got; err != nil || m.TryLock() {
			t.Error(err)
		}
		k.Cancel()
		if m.TryLock() {
			t.Error("Cancel has unlocked")
		}
		m.Unlock()
	})
}

func TestBubbleTicketMisuse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const second = "bide/syncs: second Wait of a Ticket"
		bg := context.Background()
		canceled, cancel := context.WithCancel(bg)
		cancel()
		var m syncs.FairMutex
		k := m.LockAsync()
		if err := k.Wait(bg); err != nil {
			t.Fatal(err)
		}
		for _, ctx := range []context.Context{bg, canceled} {
			if got := panics(func() { _ = k.Wait(ctx) }); got != second {
				t.Errorf("after Wait: panic %q", got)
			}
		}
		waiting := m.LockAsync()
		got := make(chan error, 1)
		go func() { got <- waiting.Wait(bg) }()
		synctest.Wait()
		for _, ctx := range []context.Context{bg, canceled} {
			if got := panics(func() { _ = waiting.Wait(ctx) }); got != second {
				t.Errorf("beside Wait: panic %q", got)
			}
		}
		var none context.Context
		if got, want := panics(func() { _ = waiting.Wait(none) }), "bide/syncs: Wait of a Ticket with a nil context"; got != want {
			t.Errorf("panic %q, want %q", got, want)
		}
		if len(got) != 0 {
			t.Error("the panics have ended the wait")
		}
		m.Unlock()
		if err := <-got; err != nil {
			t.Error(err)
		}
		m.Unlock()
		if !m.Idle() {
			t.Error("something is left")
		}
	})
}

// Take a place in each queue, in one order for all, and wait afterwards: what was promised to others in between holds.
func TestTicketsOfSeveralLocks(t *testing.T) {
	atProcs(t, func(t *testing.T) {
		const goroutines, rounds = 6, 60
		var all sync.Mutex // places are taken in all queues at once, so that no two goroutines are crossed
		var ms [3]syncs.FairMutex
		counts := [3]int{}
		ctx := open(t, context.Background(), bide.Timeout(time.Hour))
		var group sync.WaitGroup
		for g := range goroutines {
			group.Go(func() {
				for range rounds {
					all.Lock()
					var ks [3]*syncs.Ticket
					for i := range ms {
						ks[i] = ms[(i+g)%3].LockAsync()
					}
					all.Unlock()
					for i := range ks {
						if err := ks[i].Wait(ctx); err != nil {
							t.Error(err)
							return
						}
					}
					for i := range ms {
						counts[i]++
						ms[i].Unlock()
					}
				}
			})
		}
		group.Wait()
		for i := range ms {
			if counts[i] != goroutines*rounds || !ms[i].Idle() {
				t.Errorf("lock %d: %d times, idle %v", i, counts[i], ms[i].Idle())
			}
		}
	})
}
