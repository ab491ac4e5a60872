package syncs_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/syncs"
)

// What the tests of other systems check of their locks, selects and conditions, and no test of a primitive here has.

// lockers makes a lock of each kind.
var lockers = []struct {
	name string
	make func() sync.Locker
}{
	{"Mutex", func() sync.Locker { return new(syncs.Mutex).Locker() }},
	{"FairMutex", func() sync.Locker { return new(syncs.FairMutex).Locker() }},
	{"RWMutex", func() sync.Locker { return new(syncs.RWMutex).Locker() }},
	{"KeyedMutex", func() sync.Locker { return new(oneKey) }},
	{"Semaphore", func() sync.Locker { return permitLocker{syncs.NewSemaphore(1)} }},
}

// oneKey is a KeyedMutex with a single key.
type oneKey struct{ m syncs.KeyedMutex[int] }

func (l *oneKey) Lock()   { _ = l.m.Lock(context.Background(), 1) }
func (l *oneKey) Unlock() { l.m.Unlock(1) }

type permitLocker struct{ s *syncs.Semaphore }

func (l permitLocker) Lock()   { _ = l.s.Acquire(context.Background(), 1) }
func (l permitLocker) Unlock() { l.s.Release(1) }

// Handing over in a ring: each Unlock of one is the next one's Lock.
func TestHandOver(t *testing.T) {
	for _, x := range lockers {
		t.Run(x.name, func(t *testing.T) {
			const goroutines, each = 4, 500
			in, out := x.make(), x.make()
			in.Lock()
			out.Lock()
			var group sync.WaitGroup
			count := 0 // guarded by the two locks together; the race detector watches
			for range goroutines {
				group.Go(func() {
					for range each {
						in.Lock()
						count++
						out.Unlock()
					}
				})
			}
			for i := range each * goroutines {
				in.Unlock()
				out.Lock()
				if count != i+1 {
					t.Fatalf("%d have passed, want %d", count, i+1)
				}
			}
			group.Wait()
		})
	}
}

// A hundred goroutines count to five hundred each, and say the number while they have the lock: the numbers come in order.
func TestHundredByFiveHundred(t *testing.T) {
	for _, x := range lockers {
		t.Run(x.name, func(t *testing.T) {
			const goroutines = 100
			each := some(500)
			l, said := x.make(), make(chan int, 64)
			count := 0
			for range goroutines {
				go func() {
					for range each {
						l.Lock()
						count++
						said <- count
						l.Unlock()
					}
				}()
			}
			for want := 1; want <= goroutines*each; want++ {
				if got := <-said; got != want {
					t.Fatalf("%d was said, want %d", got, want)
				}
			}
			l.Lock()
			defer l.Unlock()
			if count != goroutines*each {
				t.Errorf("counted %d", count)
			}
		})
	}
}

// A channel and a bound, in either order, by one goroutine again and again: the bound if nothing comes, at its instant;
// what comes before it.
func TestBubbleRecvOrInstant(t *testing.T) {
	for _, first := range []string{"channel", "instant"} {
		synctest.Test(t, func(t *testing.T) {
			values, bg := make(chan int), context.Background()
			wait := func(d time.Duration) (v int, received bool) {
				v = -1
				r, at := syncs.Recv(values, &v, nil), syncs.At(clock.After(d))
				sources := []syncs.Waitable{r, at}
				if first == "instant" {
					sources = []syncs.Waitable{at, r}
				}
				i, err := syncs.WaitAny(bg, sources...)
				if err != nil {
					t.Errorf("the %s first: %v", first, err)
				}
				return v, sources[i] == r
			}
			for i := range 3 {
				start := time.Now()
				if v, received := wait(time.Second); received || v != -1 || time.Since(start) != time.Second {
					t.Errorf("the %s first: nothing came, received %v, %d, after %v", first, received, v, time.Since(start))
				}
				start = time.Now()
				go func() {
					time.Sleep(time.Second - 1)
					values <- i
				}()
				if v, received := wait(time.Second); !received || v != i || time.Since(start) != time.Second-1 {
					t.Errorf("the %s first: received %v, %d, after %v", first, received, v, time.Since(start))
				}
			}

			// A bound that has passed is there already, and so is a value that somebody sends: the first in order.
			for range 3 {
				go func() { values <- 7 }()
				synctest.Wait()
				v, received := wait(-time.Second)
				if received != (first == "channel") {
					t.Errorf("the %s first: of a value and a bound that has passed, received %v", first, received)
				}
				if !received {
					v = <-values
				}
				if v != 7 {
					t.Errorf("the %s first: the value is %d", first, v)
				}
			}
		})
	}
}

// Eight goroutines wait 256 times, for some microseconds each, while one broadcasts all the time: every wait ends, with or
// without a signal, and nobody is left.
func TestCondShortWaitsBesideBroadcastsRealTime(t *testing.T) {
	const goroutines = 8
	each := some(256)
	var mu syncs.Mutex
	c := syncs.Cond{L: mu.Locker()}
	var waits, storm sync.WaitGroup
	ended := make(chan struct{})
	storm.Go(func() {
		for {
			select {
			case <-ended:
				return
			default:
				c.Broadcast()
				yield()
			}
		}
	})
	for range goroutines {
		waits.Go(func() {
			for i := range each {
				c.L.Lock()
				err := bide.FailAfter(context.Background(), time.Duration(1+i%32)*time.Microsecond, c.Wait)
				c.L.Unlock()
				if err != nil && !errors.Is(err, context.DeadlineExceeded) {
					t.Error(err)
				}
			}
		})
	}
	waits.Wait()
	close(ended)
	storm.Wait()
	if c.Queued() || !mu.Idle() {
		t.Error("something is left")
	}
}
