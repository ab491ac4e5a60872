package syncs_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/syncs"
)

// condLocks are locks for a Cond. try and untry are of the lock itself, so that to read is not enough.
var condLocks = []struct {
	name string
	make func() (l sync.Locker, try func() bool, untry func())
}{
	{"sync.Mutex", func() (sync.Locker, func() bool, func()) {
		m := new(sync.Mutex)
		return m, m.TryLock, m.Unlock
	}},
	{"sync.RWMutex to read", func() (sync.Locker, func() bool, func()) {
		m := new(sync.RWMutex)
		return m.RLocker(), m.TryLock, m.Unlock
	}},
	{"Mutex", func() (sync.Locker, func() bool, func()) {
		m := new(syncs.Mutex)
		return m.Locker(), m.TryLock, m.Unlock
	}},
	{"FairMutex", func() (sync.Locker, func() bool, func()) {
		m := new(syncs.FairMutex)
		return m.Locker(), m.TryLock, m.Unlock
	}},
	{"RWMutex", func() (sync.Locker, func() bool, func()) {
		m := new(syncs.RWMutex)
		return m.Locker(), m.TryLock, m.Unlock
	}},
	{"RWMutex to read", func() (sync.Locker, func() bool, func()) {
		m := new(syncs.RWMutex)
		return m.RLocker(), m.TryLock, m.Unlock
	}},
}

// With any lock, and under any context: the lock is free while Wait waits, and held when it returns, whatever it
// returns; and it does not return before.
func TestBubbleCondHoldsTheLock(t *testing.T) {
	for _, k := range condLocks {
		for _, x := range contexts {
			for _, how := range []string{"signaled", "broadcast", "canceled", "canceled before"} {
				synctest.Test(t, func(t *testing.T) {
					l, try, untry := k.make()
					c := syncs.Cond{L: l}
					ctx, cancel := x.make(t)
					got := make(chan error, 1)
					if how == "canceled before" {
						cancel()
						l.Lock()
						got <- c.Wait(ctx)
					} else {
						go func() {
							l.Lock()
							got <- c.Wait(ctx)
						}()
						synctest.Wait()
						if !try() {
							t.Fatalf("%s: the lock is held while Wait waits", k.name)
						}
						switch how {
						case "signaled":
							c.Signal()
						case "broadcast":
							c.Broadcast()
						case "canceled":
							cancel()
						}
						for c.Queued() { // not synctest.Wait: who waits for a sync.Mutex is not at rest
							yield()
						}
						for range 100 {
							yield()
						}
						if len(got) != 0 {
							t.Fatalf("%s, %s: Wait has returned without the lock: %v", k.name, how, <-got)
						}
						untry()
					}
					err := <-got
					if (err == nil) != (how == "signaled" || how == "broadcast") || err != nil && !x.want(err) {
						t.Errorf("%s, %s, %s: error %v", k.name, x.name, how, err)
					}
					if try() {
						t.Errorf("%s, %s: the lock is not held after Wait", k.name, how)
					}
					l.Unlock()
					if !try() {
						t.Errorf("%s, %s: the lock is held twice", k.name, how)
					}
				})
			}
		}
	}
}

// A told lock signals as soon as it is free, and counts that.
type told struct {
	sync.Mutex
	c     syncs.Cond
	times int
}

func (l *told) Unlock() {
	l.times++
	l.Mutex.Unlock()
	l.c.Signal()
}

// Who waits is in the queue before it gives up the lock: a signal that comes in that instant finds it. Under a canceled
// context it does not give it up at all.
func TestCondNoGap(t *testing.T) {
	l := new(told)
	l.c.L = l
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	l.Lock()
	for range 100 {
		if err := l.c.Wait(context.Background()); err != nil { // would hang
			t.Error(err)
		}
	}
	if err := l.c.Wait(canceled); err == nil || l.times != 100 {
		t.Errorf("error %v, unlocked %d times", err, l.times)
	}
	l.Unlock()
}

// Signal wakes exactly one at a time, in the order of their coming; nobody is woken by a signal from before.
func TestBubbleCondSignal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 100
		var mu sync.Mutex
		c := syncs.Cond{L: &mu}
		c.Signal()
		c.Broadcast()
		var order []int
		for i := range n {
			go func() {
				mu.Lock()
				defer mu.Unlock()
				if err := c.Wait(context.Background()); err != nil {
					t.Error(err)
				}
				order = append(order, i)
			}()
			synctest.Wait()
		}
		for i := range n {
			if i%2 == 0 { // with the lock, or without
				c.Signal()
			} else {
				mu.Lock()
				c.Signal()
				mu.Unlock()
			}
			synctest.Wait()
			if len(order) != i+1 || order[i] != i {
				t.Fatalf("after %d signals: %v", i+1, order)
			}
		}
		c.Signal()
	})
}

func TestBubbleCondBroadcast(t *testing.T) {
	for _, n := range []int{0, 1, 2, 31, 32, 33, 64, 65, 100} {
		for _, locked := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				var mu syncs.Mutex
				c := syncs.Cond{L: mu.Locker()}
				for range 2 {
					woken := waitFor(n, func() error {
						mu.Locker().Lock()
						defer mu.Unlock()
						return c.Wait(context.Background())
					})
					if woken() != 0 {
						t.Fatal("woken before")
					}
					if locked {
						mu.TryLock()
					}
					c.Broadcast()
					if locked {
						mu.Unlock()
					}
					if got := woken(); got != n {
						t.Fatalf("%d of %d are awake", got, n)
					}
					if c.Queued() {
						t.Error("somebody is left in the queue")
					}
				}
			})
		}
	}
}

// A Wait that returns an error has consumed no signal: with two who wait, one of them canceled in the instant of the
// signal, one is woken in any case; with one, the signal has found it, or nobody.
func TestCondSignalOrCancel(t *testing.T) {
	for _, x := range contexts {
		t.Run(x.name, func(t *testing.T) {
			var mu sync.Mutex
			c := syncs.Cond{L: &mu}
			var granted, canceled int
			for i := range some(2000) {
				ctx, cancel := x.make(t)
				both, stop := context.WithCancel(context.Background())
				errs := make([]error, 2)
				var waiting, group sync.WaitGroup
				for j, ctx := range []context.Context{ctx, both} {
					waiting.Add(1)
					mu.Lock() // the first one waits when the second one comes
					group.Go(func() {
						mu.Lock()
						defer mu.Unlock()
						waiting.Done()
						errs[j] = c.Wait(ctx)
					})
					mu.Unlock()
					waiting.Wait()
				}
				mu.Lock() // both wait
				mu.Unlock()
				for range i % 3 {
					yield()
				}
				racers := race(func() bool { return true }, inTurn(i, c.Signal, cancel)...)
				racers.Wait()
				// One of them has the signal; the other is to be released.
				stop()
				group.Wait()
				switch {
				case errs[0] == nil && errs[1] != nil:
					granted++
				case errs[0] != nil && errs[1] == nil:
					canceled++
				default:
					t.Fatalf("one signal, and the two returned %v and %v", errs[0], errs[1])
				}
				if c.Queued() || !mu.TryLock() {
					t.Fatal("something is left")
				}
				mu.Unlock()
			}
			t.Logf("granted %d, canceled %d", granted, canceled)
		})
	}
}

func TestCondMisuse(t *testing.T) {
	var none context.Context
	var mu syncs.Mutex
	bg := context.Background()
	for want, f := range map[string]func(){
		"bide/syncs: Wait of a Cond with a nil context": func() { _ = (&syncs.Cond{L: mu.Locker()}).Wait(none) },
		"bide/syncs: Wait of a Cond without L":          func() { _ = new(syncs.Cond).Wait(bg) },
		"bide/syncs: unlock of unlocked Mutex":          func() { _ = (&syncs.Cond{L: mu.Locker()}).Wait(bg) },
	} {
		if got := panics(f); got != want {
			t.Errorf("panic %q, want %q", got, want)
		}
	}
	if !mu.Idle() {
		t.Error("the lock was touched")
	}
	new(syncs.Cond).Signal()
	new(syncs.Cond).Broadcast()
	c := syncs.Cond{L: mu.Locker()}
	_ = panics(func() { _ = c.Wait(bg) }) // L is not held
	if c.Queued() {
		t.Error("a Wait without the lock is left in the queue")
	}
}

// An exiting context ends the goroutine that waits under it.
type exiting struct{ context.Context }

func (e exiting) Done() <-chan struct{} {
	runtime.Goexit()
	return nil
}

// What is deferred finds the lock held, when the goroutine ends in Wait.
func TestCondGoexit(t *testing.T) {
	var mu syncs.Mutex
	c := syncs.Cond{L: mu.Locker()}
	var group sync.WaitGroup
	group.Go(func() {
		mu.Locker().Lock()
		defer mu.Unlock() // panics if the lock is not held
		_ = c.Wait(exiting{context.Background()})
		t.Error("Wait has returned")
	})
	group.Wait()
	if c.Queued() || !mu.Idle() {
		t.Error("something is left")
	}
}

// A condition in a loop: a queue of bounded length, its producers and consumers all on one Cond.
func TestCondProducersAndConsumers(t *testing.T) {
	atProcs(t, func(t *testing.T) {
		const each, producers, room = 500, 4, 3
		var mu syncs.Mutex
		c := syncs.Cond{L: mu.Locker()}
		var queue, got []int
		ctx := open(t, context.Background())
		var group sync.WaitGroup
		must := func(err error) {
			if err != nil {
				t.Error(err)
			}
		}
		for p := range producers {
			group.Go(func() {
				for i := range each {
					must(mu.Lock(ctx))
					for len(queue) == room {
						must(c.Wait(ctx))
					}
					queue = append(queue, p*each+i)
					mu.Unlock()
					c.Broadcast()
				}
			})
			group.Go(func() {
				for range each {
					must(mu.Lock(ctx))
					for len(queue) == 0 {
						must(c.Wait(ctx))
					}
					got = append(got, queue[0])
					queue = queue[1:]
					c.Broadcast()
					mu.Unlock()
				}
			})
		}
		group.Wait()
		slices.Sort(got)
		for i := range producers * each {
			if got[i] != i {
				t.Fatalf("lost or doubled: %d in place %d", got[i], i)
			}
		}
	})
}

// golang/go#9578, #23211, #24429: a wait for a condition with a timeout.
func TestBubbleCondTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		c := syncs.Cond{L: &mu}
		ready := false
		wait := func(d time.Duration) (time.Duration, error) {
			mu.Lock()
			defer mu.Unlock()
			start := time.Now()
			err := bide.FailAfter(context.Background(), d, func(ctx context.Context) error {
				for !ready {
					if err := c.Wait(ctx); err != nil {
						return err
					}
				}
				return nil
			})
			return time.Since(start), err
		}
		var timeout *bide.TimeoutError
		if d, err := wait(time.Second); d != time.Second || !errors.As(err, &timeout) {
			t.Errorf("%v after %v", err, d)
		}
		for range 3 { // woken for nothing: the bound is the whole wait's
			time.AfterFunc(700*time.Millisecond, c.Broadcast)
		}
		if d, err := wait(time.Second); d != time.Second || !errors.As(err, &timeout) {
			t.Errorf("%v after %v", err, d)
		}
		time.AfterFunc(time.Minute, func() {
			mu.Lock()
			ready = true
			mu.Unlock()
			c.Signal()
		})
		if d, err := wait(time.Hour); d != time.Minute || err != nil {
			t.Errorf("%v after %v", err, d)
		}
	})
}
