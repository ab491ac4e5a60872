package syncs_test

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/syncs"
)

func TestRWMutexTry(t *testing.T) {
	for _, c := range []struct {
		name                string
		take                func(m *syncs.RWMutex) bool
		untake              func(m *syncs.RWMutex)
		another, forWriting bool
	}{
		{"free", func(*syncs.RWMutex) bool { return true }, func(*syncs.RWMutex) {}, true, true},
		{"read", (*syncs.RWMutex).TryRLock, (*syncs.RWMutex).RUnlock, true, false},
		{"written", (*syncs.RWMutex).TryLock, (*syncs.RWMutex).Unlock, false, false},
	} {
		var m syncs.RWMutex
		for range 2 {
			if !c.take(&m) {
				t.Errorf("%s: not taken", c.name)
			}
			over := make(chan struct{})
			go func() { // on another goroutine it is the same
				defer close(over)
				if got := m.TryRLock(); got != c.another {
					t.Errorf("%s: TryRLock = %v", c.name, got)
				} else if got {
					m.RUnlock()
				}
				if got := m.TryLock(); got != c.forWriting {
					t.Errorf("%s: TryLock = %v", c.name, got)
				} else if got {
					m.Unlock()
				}
			}()
			<-over
			c.untake(&m)
			if !m.Idle() {
				t.Errorf("%s: something is left", c.name)
			}
		}
	}
}

func TestRWMutexNilContext(t *testing.T) {
	var none context.Context
	var m syncs.RWMutex
	for want, f := range map[string]func(){
		"bide/syncs: Lock with a nil context":  func() { _ = m.Lock(none) },
		"bide/syncs: RLock with a nil context": func() { _ = m.RLock(none) },
	} {
		if got := panics(f); got != want {
			t.Errorf("panic %q, want %q", got, want)
		}
	}
}

// An rwSide is one of the two ways to take the lock, and what keeps others from taking it so.
type rwSide struct {
	name   string
	try    func(m *syncs.RWMutex) bool
	lock   func(m *syncs.RWMutex, ctx context.Context) error
	until  func(m *syncs.RWMutex, deadline clock.Instant) error
	unlock func(m *syncs.RWMutex)
	locker func(m *syncs.RWMutex) sync.Locker
}

var rwRead = rwSide{"read", (*syncs.RWMutex).TryRLock, (*syncs.RWMutex).RLock, (*syncs.RWMutex).RLockUntil,
	(*syncs.RWMutex).RUnlock, (*syncs.RWMutex).RLocker}

var rwWrite = rwSide{"write", (*syncs.RWMutex).TryLock, (*syncs.RWMutex).Lock, (*syncs.RWMutex).LockUntil,
	(*syncs.RWMutex).Unlock, (*syncs.RWMutex).Locker}

// rwConflicts are those that wait for each other: holder, waiter.
var rwConflicts = [][2]rwSide{{rwRead, rwWrite}, {rwWrite, rwRead}, {rwWrite, rwWrite}}

func TestRWMutexUntil(t *testing.T) {
	now := clock.Now()
	for _, c := range rwConflicts {
		for name, at := range map[string]clock.Instant{"past": now.Add(-time.Hour), "now": now, "zero": 0, "far negative": -1 << 63} {
			var m syncs.RWMutex
			if err := c[1].until(&m, at); err != nil {
				t.Errorf("%s, %s, free: %v", c[1].name, name, err)
			}
			c[1].unlock(&m)
			c[0].try(&m)
			if err := c[1].until(&m, at); err != os.ErrDeadlineExceeded {
				t.Errorf("%s after %s, %s: %v", c[1].name, c[0].name, name, err)
			}
			c[0].unlock(&m)
			if !m.Idle() {
				t.Errorf("%s after %s, %s: something is left", c[1].name, c[0].name, name)
			}
		}
		synctest.Test(t, func(t *testing.T) {
			var m syncs.RWMutex
			c[0].try(&m)
			start := time.Now()
			if err := c[1].until(&m, clock.After(time.Minute)); err != os.ErrDeadlineExceeded || time.Since(start) != time.Minute {
				t.Errorf("%v after %v", err, time.Since(start))
			}
			time.AfterFunc(time.Minute, func() { c[0].unlock(&m) })
			if err := c[1].until(&m, clock.After(time.Hour)); err != nil || time.Since(start) != 2*time.Minute {
				t.Errorf("%v after %v", err, time.Since(start))
			}
			c[1].unlock(&m)
			synctest.Wait() // for the unlock of c[0] to return
			if !m.Idle() {
				t.Error("something is left")
			}
		})
	}
}

// Eight readers are inside at once; a writer gets in after all of them, and a reader after the writer.
func TestBubbleRWMutexReadersTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const readers = 8
		ctx := open(t, context.Background())
		var m syncs.RWMutex
		leave := make(chan struct{})
		inside := waitFor(readers, func() error {
			if err := m.RLock(ctx); err != nil {
				return err
			}
			go func() {
				<-leave
				m.RUnlock()
			}()
			return nil
		})
		if n := inside(); n != readers {
			t.Fatalf("%d readers are inside", n)
		}
		wrote := waitFor(1, func() error { return m.Lock(ctx) })
		for range readers {
			if wrote() != 0 {
				t.Fatal("the writer did not wait for all readers")
			}
			leave <- struct{}{}
		}
		if wrote() != 1 {
			t.Fatal("the writer is not inside")
		}
		late := waitFor(2, func() error { return m.RLock(ctx) })
		if late() != 0 {
			t.Fatal("a reader is inside beside the writer")
		}
		m.Unlock()
		if n := late(); n != 2 {
			t.Fatalf("%d readers after the writer", n)
		}
		m.RUnlock()
		m.RUnlock()
		if !m.Idle() {
			t.Error("something is left")
		}
	})
}

// While a writer waits no reader goes in; when it is canceled, or expires, those who have come go in, beside who is
// inside.
func TestBubbleRWMutexWriterPriority(t *testing.T) {
	type ending struct {
		name string
		make func(t *testing.T) (lock func(m *syncs.RWMutex) error, end func())
	}
	endings := []ending{{"deadline", func(*testing.T) (func(m *syncs.RWMutex) error, func()) {
		at := clock.After(time.Minute)
		return func(m *syncs.RWMutex) error { return m.LockUntil(at) }, func() { time.Sleep(time.Minute) }
	}}}
	for _, x := range contexts {
		endings = append(endings, ending{x.name, func(t *testing.T) (func(m *syncs.RWMutex) error, func()) {
			ctx, cancel := x.make(t)
			return func(m *syncs.RWMutex) error { return m.Lock(ctx) }, cancel
		}})
	}
	for _, e := range endings {
		for _, n := range []int{1, 31, 32, 33, 64, 100} {
			synctest.Test(t, func(t *testing.T) {
				var m syncs.RWMutex
				bg := context.Background()
				m.TryRLock()
				lock, end := e.make(t)
				var failed error
				writer := waitFor(1, func() error {
					failed = lock(&m)
					return failed
				})
				if m.TryRLock() {
					t.Fatal("TryRLock while a writer waits")
				}
				readers := waitFor(n, func() error { return m.RLock(bg) })
				if readers() != 0 {
					t.Fatal("a reader went in while a writer waits")
				}
				end()
				if got := readers(); got != n {
					t.Errorf("%s: %d of %d readers went in after the writer had left", e.name, got, n)
				}
				if writer() != 0 || failed == nil {
					t.Errorf("%s: the writer's error is %v", e.name, failed)
				}
				if m.Queued() || !m.TryRLock() || m.TryLock() {
					t.Error("the canceled writer has left something")
				}
				for range n + 2 {
					m.RUnlock()
				}
				if !m.Idle() {
					t.Error("something is left")
				}
			})
		}
	}
}

// At the end of a writer the readers that wait go in, all of them, although another writer waits; that one is next.
func TestBubbleRWMutexTakesTurns(t *testing.T) {
	for _, n := range []int{1, 32, 33, 100} {
		synctest.Test(t, func(t *testing.T) {
			var m syncs.RWMutex
			bg := context.Background()
			m.TryLock()
			writer := waitFor(1, func() error { return m.Lock(bg) })
			readers := waitFor(n, func() error { return m.RLock(bg) })
			m.Unlock()
			if r, w := readers(), writer(); r != n || w != 0 {
				t.Fatalf("%d of %d readers and %d writers are inside", r, n, w)
			}
			late := waitFor(1, func() error { return m.RLock(bg) })
			for range n {
				if late() != 0 || writer() != 0 {
					t.Fatal("too early")
				}
				m.RUnlock()
			}
			if late() != 0 || writer() != 1 {
				t.Fatal("the writer is not the next")
			}
			m.Unlock()
			if late() != 1 {
				t.Fatal("the reader is not the next")
			}
			m.RUnlock()
			if !m.Idle() {
				t.Error("something is left")
			}
		})
	}
}

// Grant and cancellation in the same instant: nil if and only if the lock is held, and it is never lost.
func TestRWMutexGrantOrCancel(t *testing.T) {
	for _, c := range rwConflicts {
		holder, waiter := c[0], c[1]
		for _, x := range contexts {
			t.Run(fmt.Sprintf("%s after %s/%s", waiter.name, holder.name, x.name), func(t *testing.T) {
				var m syncs.RWMutex
				var granted, canceled int
				for i := range some(1000) {
					ctx, cancel := x.make(t)
					holder.try(&m)
					racers := race(m.Queued, inTurn(i, func() { holder.unlock(&m) }, cancel)...)
					err := waiter.lock(&m, ctx)
					if err == nil {
						granted++
						if m.TryLock() || m.Stats().Held != 1 {
							t.Fatal("nil, and not held")
						}
						waiter.unlock(&m)
					} else {
						canceled++
					}
					racers.Wait()
					if !m.Idle() {
						t.Fatalf("error %v, and something is left", err)
					}
				}
				t.Logf("granted %d, canceled %d", granted, canceled)
			})
		}
	}
}

// A canceled writer between readers, in the instant in which the last of those inside leaves: the others get in.
func TestRWMutexWriterLeavesInThatInstant(t *testing.T) {
	var m syncs.RWMutex
	for i := range some(3000) {
		s := bide.Open(context.Background())
		m.TryRLock()
		var group sync.WaitGroup
		group.Go(func() {
			if m.Lock(s) == nil {
				m.Unlock()
			}
		})
		for m.TryRLock() {
			m.RUnlock()
			yield()
		}
		for range 2 {
			group.Go(func() {
				if err := m.RLock(context.Background()); err != nil {
					t.Error(err)
				}
				m.RUnlock()
			})
		}
		for range i % 5 {
			yield()
		}
		for _, f := range inTurn(i, m.RUnlock, func() { s.Cancel(nil) }) {
			group.Go(f)
		}
		group.Wait() // would hang
		if !m.Idle() {
			t.Fatal("something is left")
		}
		s.Close(nil)
	}
}

// Calls that do not wait, against each other: what one of them has taken in vain it has given back.
func TestRWMutexTryRace(t *testing.T) {
	atProcs(t, func(t *testing.T) {
		var m syncs.RWMutex
		var group sync.WaitGroup
		for g := range 4 {
			side := []rwSide{rwRead, rwWrite}[g%2]
			group.Go(func() {
				for range some(50000) {
					if side.try(&m) {
						side.unlock(&m)
					}
				}
			})
		}
		group.Wait()
		if !m.Idle() {
			t.Error("something is left")
		}
	})
}

// Neither side starves the other, on any number of processors.
func TestRWMutexStarvation(t *testing.T) {
	for _, c := range [][2]rwSide{{rwRead, rwWrite}, {rwWrite, rwRead}} {
		many, one := c[0], c[1]
		atProcs(t, func(t *testing.T) {
			var m syncs.RWMutex
			var over atomic.Bool
			var taken atomic.Int64
			var group sync.WaitGroup
			for range 3 {
				group.Go(func() {
					for n := 0; !over.Load(); n++ {
						if err := many.until(&m, clock.Forever); err != nil {
							t.Error(err)
						}
						taken.Add(1)
						many.unlock(&m)
						yieldToSteps(n)
					}
				})
			}
			for range 5 {
				for before := taken.Load(); taken.Load() == before; {
					yield()
				}
				if err := one.lock(&m, context.Background()); err != nil {
					t.Error(err)
				}
				one.unlock(&m)
			}
			over.Store(true)
			group.Wait()
			if !m.Idle() {
				t.Error("something is left")
			}
			t.Logf("one to %s among %d to %s", one.name, taken.Load(), many.name)
		})
	}
}

// Lockers with a sync.Cond: they are the same lock, not a copy.
func TestRWMutexLockers(t *testing.T) {
	var m syncs.RWMutex
	for _, c := range rwConflicts {
		c[0].locker(&m).Lock()
		if c[1].try(&m) {
			t.Errorf("taken to %s while a Locker has it to %s", c[1].name, c[0].name)
		}
		c[0].locker(&m).Unlock()
	}
	r := m.RLocker()
	r.Lock()
	r.Lock()
	r.Unlock()
	r.Unlock()
	cond := sync.NewCond(m.RLocker())
	ready := false
	var group sync.WaitGroup
	for range 10 {
		group.Go(func() {
			cond.L.Lock()
			for !ready {
				cond.Wait()
			}
			cond.L.Unlock()
		})
	}
	m.Locker().Lock()
	ready = true
	m.Locker().Unlock()
	cond.Broadcast()
	group.Wait()
	if !m.Idle() {
		t.Error("something is left")
	}
}
