package syncs_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"bide.invalid/bide/syncs"
)

// sources are n things to wait for, events and futures by turns.
type sources struct {
	all []syncs.Waitable
	set []func()
}

func newSources(n int) *sources {
	s := &sources{}
	for i := range n {
		if i%2 == 0 {
			e := new(syncs.Event)
			s.all, s.set = append(s.all, e), append(s.set, e.Set)
		} else {
			f := new(syncs.Future[int])
			s.all, s.set = append(s.all, f), append(s.set, func() { f.Set(i) })
		}
	}
	return s
}

// queued are the indexes of those that somebody is registered with.
func (s *sources) queued() (is []int) {
	for i, x := range s.all {
		if x.(interface{ Queued() bool }).Queued() {
			is = append(is, i)
		}
	}
	return is
}

func (s *sources) gone(t *testing.T) {
	t.Helper()
	if q := s.queued(); q != nil {
		t.Errorf("registrations are left at %v", q)
	}
}

// mostSources is what an outcome has room for.
const mostSources = 122

// Ready before the call: the first that is, in the order of the arguments.
func TestWaitAnyReady(t *testing.T) {
	for _, n := range []int{1, 2, 3, 8, 9, mostSources} {
		for _, ready := range [][]int{{0}, {n - 1}, {n / 2}, {n / 2, n - 1}, {n - 1, 0}} {
			s := newSources(n)
			want := n
			for _, i := range ready {
				s.set[i]()
				want = min(want, i)
			}
			for range 2 { // it takes nothing
				if i, err := syncs.WaitAny(context.Background(), s.all...); i != want || err != nil {
					t.Errorf("%v of %d are ready: %d, %v, want %d", ready, n, i, err, want)
				}
				s.gone(t)
			}
		}
	}
}

// Ready while it waits: the index of each.
func TestBubbleWaitAnyIndex(t *testing.T) {
	for _, n := range []int{1, 2, 8, 9, mostSources} {
		for want := range n {
			synctest.Test(t, func(t *testing.T) {
				s := newSources(n)
				got := make(chan int, 1)
				go func() {
					i, err := syncs.WaitAny(context.Background(), s.all...)
					if err != nil {
						t.Error(err)
					}
					got <- i
				}()
				synctest.Wait()
				if q := s.queued(); len(q) != n {
					t.Fatalf("registered with %d of %d", len(q), n)
				}
				s.set[want]()
				if i := <-got; i != want {
					t.Errorf("of %d: %d, want %d", n, i, want)
				}
				s.gone(t)
			})
		}
	}
}

// Without sources it waits for the context, and for nothing else.
func TestBubbleWaitAnyOfNone(t *testing.T) {
	for _, c := range contexts {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := c.make(t)
				got := make(chan error, 1)
				go func() {
					i, err := syncs.WaitAny(ctx)
					if i != -1 {
						t.Errorf("index %d", i)
					}
					got <- err
				}()
				synctest.Wait()
				if len(got) != 0 {
					t.Fatalf("ended by itself: %v", <-got)
				}
				cancel()
				if err := <-got; !c.want(err) {
					t.Errorf("error %v", err)
				}
			})
		})
	}
}

// Canceled: all registrations are gone, and the sources as they were.
func TestBubbleWaitAnyCanceled(t *testing.T) {
	for _, n := range []int{1, 2, 9, mostSources} {
		for _, c := range contexts {
			synctest.Test(t, func(t *testing.T) {
				s := newSources(n)
				ctx, cancel := c.make(t)
				got := make(chan error, 1)
				go func() {
					i, err := syncs.WaitAny(ctx, s.all...)
					if i != -1 {
						t.Errorf("index %d", i)
					}
					got <- err
				}()
				synctest.Wait()
				cancel()
				if err := <-got; !c.want(err) {
					t.Errorf("%s, of %d: error %v", c.name, n, err)
				}
				s.gone(t)
				s.set[n-1]()
				if i, err := syncs.WaitAny(context.Background(), s.all...); i != n-1 || err != nil {
					t.Errorf("afterwards: %d, %v", i, err)
				}
			})
		}
	}
}

// Fired, then canceled before the goroutine has run: the index.
func TestBubbleWaitAnyFiredAndCanceled(t *testing.T) {
	for _, c := range contexts {
		for _, n := range []int{1, 3, 9} {
			synctest.Test(t, func(t *testing.T) {
				s := newSources(n)
				ctx, cancel := c.make(t)
				got := make(chan int, 1)
				go func() {
					i, err := syncs.WaitAny(ctx, s.all...)
					if err != nil {
						t.Errorf("%s, of %d: the index is thrown away: %v", c.name, n, err)
					}
					got <- i
				}()
				synctest.Wait()
				s.set[n-1]()
				cancel()
				s.set[0]()
				if i := <-got; i != n-1 && i != -1 {
					t.Errorf("%s, of %d: index %d", c.name, n, i)
				}
				s.gone(t)
			})
		}
	}
}

func TestWaitAnyMost(t *testing.T) {
	s := newSources(mostSources + 1)
	want := "bide/syncs: WaitAny of 123 sources: at most 122"
	for range 2 {
		got := panics(func() { _, _ = syncs.WaitAny(context.Background(), s.all...) })
		if got != want {
			t.Errorf("panic %q, want %q", got, want)
		}
		s.gone(t)
		s.set[0]() // ready or not
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if got := panics(func() { _, _ = syncs.WaitAny(ctx, s.all...) }); got != want {
		t.Errorf("canceled: panic %q, want %q", got, want)
	}
}

// The same source twice, and one that others wait for alone.
func TestBubbleWaitAnyShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var e, never syncs.Event
		got := make(chan int, 3)
		any := func(sources ...syncs.Waitable) {
			i, err := syncs.WaitAny(context.Background(), sources...)
			if err != nil {
				t.Error(err)
			}
			got <- i
		}
		go any(&e, &e)
		go any(&never, &e, &never, &e)
		alone := waitFor(1, func() error { return e.Wait(context.Background()) })
		e.Set()
		if n := alone(); n != 1 {
			t.Error("who waited alone was not released")
		}
		a, b := <-got, <-got
		if min(a, b) != 0 || max(a, b) != 1 {
			t.Errorf("indexes %d and %d, want 0 and 1", a, b)
		}
		if e.Queued() || never.Queued() {
			t.Error("registrations are left")
		}
	})
}

// Sixteen setters at a time: the index is that of a source that is set, once.
func TestWaitAnySixteenSetters(t *testing.T) {
	const n = 16
	seen := map[int]int{}
	for range some(1000) {
		s := newSources(n)
		var begun [n]atomic.Bool
		var setters sync.WaitGroup
		for i := range n {
			setters.Go(func() {
				begun[i].Store(true)
				s.set[i]()
			})
		}
		i, err := syncs.WaitAny(context.Background(), s.all...)
		if err != nil || i < 0 || i >= n || !begun[i].Load() {
			t.Fatalf("%d, %v", i, err)
		}
		if i, err := syncs.WaitAny(context.Background(), s.all[i]); i != 0 || err != nil {
			t.Fatal("the source that it named is not ready")
		}
		setters.Wait()
		s.gone(t)
		seen[i]++
	}
	t.Logf("indexes: %v", seen)
}

// Firing and cancellation race: an index is of a source that is set, an error leaves nothing.
func TestWaitAnyFiredOrCanceled(t *testing.T) {
	for _, c := range contexts {
		t.Run(c.name, func(t *testing.T) {
			fired := 0
			for k := range some(2000) {
				s := newSources(3)
				ctx, cancel := c.make(t)
				ready := func() bool { return len(s.queued()) == 3 }
				racers := race(ready, inTurn(k, s.set[k%3], cancel)...)
				i, err := syncs.WaitAny(ctx, s.all...)
				racers.Wait()
				if err == nil && i != k%3 || err != nil && (i != -1 || !c.want(err)) {
					t.Fatalf("%d, %v", i, err)
				}
				if err == nil {
					fired++
				}
				s.gone(t)
			}
			t.Logf("fired %d", fired)
		})
	}
}
