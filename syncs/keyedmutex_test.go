package syncs_test

import (
	"context"
	"math"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"bide.invalid/bide/syncs"
)

func TestKeyedMutexTryLock(t *testing.T) {
	var m syncs.KeyedMutex[string]
	for range 2 {
		for i, k := range []string{"", "a", "b"} {
			if !m.TryLock(k) || m.TryLock(k) || m.Len() != i+1 {
				t.Errorf("TryLock(%q)", k)
			}
		}
		if err := m.Lock(context.Background(), "c"); err != nil {
			t.Error(err)
		}
		for i, k := range []string{"b", "c", "", "a"} {
			m.Unlock(k)
			if m.Len() != 3-i {
				t.Errorf("%d keys after %d unlocks", m.Len(), i+1)
			}
		}
	}
}

func TestKeyedMutexMisuse(t *testing.T) {
	const unlocked, odd = "bide/syncs: unlock of unlocked key of a KeyedMutex", "bide/syncs: lock of a key that is not equal to itself"
	var m syncs.KeyedMutex[any]
	bg := context.Background()
	var none context.Context
	m.TryLock(1)
	for _, c := range []struct {
		want string
		f    func()
	}{
		{unlocked, func() { m.Unlock("1") }},
		{unlocked, func() { new(syncs.KeyedMutex[int]).Unlock(0) }},
		{unlocked, func() { m.TryLock("a"); m.Unlock("a"); m.Unlock("a") }},
		{unlocked, func() { m.Unlock(math.NaN()) }},
		{odd, func() { m.TryLock(math.NaN()) }},
		{odd, func() { _ = m.Lock(bg, [1]float64{math.NaN()}) }},
		{"runtime error: comparing uncomparable type []int", func() { _ = m.Lock(bg, []int{1}) }},
		{"runtime error: hash of unhashable type []int", func() { m.Unlock([]int{1}) }},
		{"bide/syncs: Lock with a nil context", func() { _ = m.Lock(none, 2) }},
	} {
		if got := panics(c.f); got != c.want {
			t.Errorf("panic %q, want %q", got, c.want)
		}
	}
	if m.Len() != 1 || m.TryLock(1) || !m.TryLock(2) {
		t.Error("the panics have broken it")
	}
}

// Each key by itself: of those who wait for one some are canceled, the others get it in the order of their coming, and
// the other key does not notice.
func TestBubbleKeyedMutexOrder(t *testing.T) {
	for mask := range 1 << 4 {
		synctest.Test(t, func(t *testing.T) {
			var m syncs.KeyedMutex[int]
			m.TryLock(1)
			m.TryLock(2)
			other := waitFor(1, func() error { return m.Lock(context.Background(), 2) })
			var order, want []int
			var cancels []func()
			for i := range 4 {
				s := open(t, context.Background())
				if mask&(1<<i) != 0 {
					cancels = append(cancels, func() { s.Cancel(nil) })
				} else {
					want = append(want, i)
				}
				go func() {
					if m.Lock(s, 1) == nil {
						order = append(order, i)
						m.Unlock(1)
					}
				}()
				synctest.Wait()
			}
			for _, cancel := range cancels {
				cancel()
			}
			m.Unlock(1)
			synctest.Wait()
			if !slices.Equal(order, want) {
				t.Errorf("canceled %04b: order %v, want %v", mask, order, want)
			}
			if m.Len() != 1 || other() != 0 {
				t.Errorf("canceled %04b: %d keys, other %d", mask, m.Len(), other())
			}
			m.Unlock(2)
			if other() != 1 {
				t.Error("the other key")
			}
			m.Unlock(2)
			if m.Len() != 0 || m.Queued() {
				t.Error("something is left")
			}
		})
	}
}

// Unlock hands over directly: in between the key is not to be had.
func TestBubbleKeyedMutexHandsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m syncs.KeyedMutex[int]
		m.TryLock(1)
		first := waitFor(1, func() error { return m.Lock(context.Background(), 1) })
		m.Unlock(1)
		if m.TryLock(1) { // the first one has not run yet
			t.Error("taken in between")
		}
		if first() != 1 {
			t.Error("not handed over")
		}
		m.Unlock(1)
		if m.Len() != 0 {
			t.Error("something is left")
		}
	})
}

// Grant and cancellation in the same instant: nil if and only if the key is held, and it is never lost.
func TestKeyedMutexGrantOrCancel(t *testing.T) {
	for _, x := range contexts {
		t.Run(x.name, func(t *testing.T) {
			var m syncs.KeyedMutex[int]
			for i := range some(1000) {
				ctx, cancel := x.make(t)
				m.TryLock(i)
				racers := race(m.Queued, inTurn(i, func() { m.Unlock(i) }, cancel)...)
				err := m.Lock(ctx, i)
				if err == nil {
					if m.TryLock(i) {
						t.Fatal("nil, and not held")
					}
					m.Unlock(i)
				}
				racers.Wait()
				if m.Len() != 0 {
					t.Fatalf("error %v, and something is left", err)
				}
			}
		})
	}
}

// Same key, alone; distinct keys, together: as many goroutines as there are keys are inside at once.
func TestBubbleKeyedMutexTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const keys = 50
		var m syncs.KeyedMutex[[2]int]
		var mu sync.Mutex
		inside := map[int]bool{}
		leave := make(chan struct{})
		var group sync.WaitGroup
		for i := range 3 * keys {
			group.Go(func() {
				k := [2]int{i % keys, -1}
				if err := m.Lock(context.Background(), k); err != nil {
					t.Error(err)
				}
				mu.Lock()
				if inside[k[0]] {
					t.Error("not alone")
				}
				inside[k[0]] = true
				mu.Unlock()
				<-leave
				mu.Lock()
				delete(inside, k[0])
				mu.Unlock()
				m.Unlock(k)
			})
		}
		for range 3 {
			synctest.Wait()
			if len(inside) != keys || m.Len() != keys {
				t.Errorf("%d are inside, %d keys", len(inside), m.Len())
			}
			for range keys {
				leave <- struct{}{}
			}
		}
		group.Wait()
		if m.Len() != 0 {
			t.Errorf("%d keys are left", m.Len())
		}
	})
}
