package syncs_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/syncs"
)

// What others want of a semaphore.
var _ interface {
	Acquire(context.Context, int64) error
	Release(int64)
} = (*syncs.Semaphore)(nil)

func TestSemaphoreTry(t *testing.T) {
	s := syncs.NewSemaphore(3)
	for _, c := range []struct {
		n    int64
		want bool
	}{{4, false}, {2, true}, {2, false}, {1, true}, {1, false}, {0, true}, {math.MaxInt64, false}} {
		if got := s.TryAcquire(c.n); got != c.want {
			t.Errorf("TryAcquire(%d) = %v", c.n, got)
		}
	}
	over := make(chan bool)
	go func() { // it need not be the one that took them
		s.Release(3)
		over <- s.TryAcquire(3)
	}()
	if !<-over || s.TryAcquire(1) {
		t.Error("another goroutine's TryAcquire")
	}
	if s.Size() != 3 || s.Held() != 3 {
		t.Errorf("size %d, held %d", s.Size(), s.Held())
	}
}

// The zero Semaphore has no permits until SetSize gives it some.
func TestSemaphoreZero(t *testing.T) {
	var s syncs.Semaphore
	bg := context.Background()
	if s.TryAcquire(1) || s.Size() != 0 {
		t.Error("the zero Semaphore has permits")
	}
	if err := s.Acquire(bg, 1); err != syncs.ErrTooLarge {
		t.Error(err)
	}
	if err := s.Acquire(bg, 0); err != nil || !s.TryAcquire(0) {
		t.Error(err)
	}
	s.Release(0)
	s.SetSize(2)
	if err := s.Acquire(bg, 2); err != nil || s.TryAcquire(1) {
		t.Error(err)
	}
	s.Release(2)
	const most = 1<<62 - 1
	s.SetSize(math.MaxInt64)
	if err := s.Acquire(bg, math.MaxInt64); err != syncs.ErrTooLarge || s.Size() != most {
		t.Error(err)
	}
	if err := s.Acquire(bg, most); err != nil || s.TryAcquire(1) {
		t.Error(err)
	}
	s.SetSize(0)
	if err := s.Acquire(bg, 1); err != syncs.ErrTooLarge || s.Held() != most || s.TryAcquire(1) || !s.TryAcquire(0) {
		t.Error(err)
	}
	if got := panics(func() { s.Release(math.MaxInt64) }); got == "" {
		t.Error("more was released than was taken")
	}
	s.Release(most)
	s.SetSize(math.MaxInt64)
	if !s.TryAcquire(most) || s.Held() != most {
		t.Errorf("held %d of %d", s.Held(), s.Size())
	}
}

func TestSemaphoreMisuse(t *testing.T) {
	s := syncs.NewSemaphore(3)
	s.TryAcquire(2)
	const negative = " of a Semaphore with a negative number"
	for want, f := range map[string]func(){
		"bide/syncs: release of more permits than are taken": func() { s.Release(3) },
		"bide/syncs: Release" + negative:                     func() { s.Release(-1) },
		"bide/syncs: Acquire" + negative:                     func() { _ = s.Acquire(context.Background(), -1) },
		"bide/syncs: TryAcquire" + negative:                  func() { s.TryAcquire(math.MinInt64) },
		"bide/syncs: SetSize" + negative:                     func() { s.SetSize(-1) },
		"bide/syncs: Acquire of a Semaphore with a nil context": func() {
			var none context.Context
			_ = s.Acquire(none, 1)
		},
	} {
		if got := panics(f); got != want {
			t.Errorf("panic %q, want %q", got, want)
		}
	}
	if got, want := panics(func() { syncs.NewSemaphore(-1) }), "bide/syncs: NewSemaphore with a negative number"; got != want {
		t.Errorf("panic %q, want %q", got, want)
	}
	if s.Size() != 3 || s.Held() != 2 || !s.TryAcquire(1) || s.TryAcquire(1) {
		t.Error("the panics have broken it")
	}
	s.Release(3)
	if got := panics(func() { s.Release(1) }); got != "bide/syncs: release of more permits than are taken" {
		t.Errorf("of one that is free: panic %q", got)
	}
}

// ErrTooLarge comes at once, whatever is free, and after the look at the context.
func TestSemaphoreTooLarge(t *testing.T) {
	s := syncs.NewSemaphore(3)
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	for range 2 {
		if err := s.Acquire(context.Background(), 4); err != syncs.ErrTooLarge {
			t.Error(err)
		}
		if err := s.Acquire(canceled, 4); err != context.Canceled {
			t.Error(err)
		}
		if s.Queued() {
			t.Error("somebody waits in vain")
		}
		s.TryAcquire(3)
	}
}

// acquiring starts an Acquire in a bubble and waits until it is at rest. The result is there once it has ended.
func acquiring(s *syncs.Semaphore, ctx context.Context, n int64) (result func() (err error, ended bool)) {
	var mu sync.Mutex
	var err error
	ended := false
	go func() {
		e := s.Acquire(ctx, n)
		mu.Lock()
		err, ended = e, true
		mu.Unlock()
	}()
	synctest.Wait()
	return func() (error, bool) {
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		return err, ended
	}
}

// A shape is a semaphore with some permits taken, and a line of those who want so many each.
type shape struct {
	size, held int64
	line       []int64
}

// each runs f on a semaphore of that shape. outcome tells how a waiter stands: "waits", "has", or its error.
func (x shape) each(t *testing.T, name string, f func(t *testing.T, s *syncs.Semaphore, cancel []func(), outcome func() []string)) {
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := syncs.NewSemaphore(x.size)
			s.TryAcquire(x.held)
			all := open(t, context.Background())
			var results []func() (error, bool)
			var cancel []func()
			for _, n := range x.line {
				one := open(t, all)
				cancel = append(cancel, func() { one.Cancel(nil) })
				results = append(results, acquiring(s, one, n))
			}
			f(t, s, cancel, func() (all []string) {
				for _, r := range results {
					switch err, ended := r(); {
					case !ended:
						all = append(all, "waits")
					case err == nil:
						all = append(all, "has")
					case err == syncs.ErrTooLarge:
						all = append(all, "too large")
					default:
						all = append(all, "canceled")
					}
				}
				return all
			})
			all.Cancel(nil)
			synctest.Wait()
			if s.Queued() {
				t.Error("somebody is left in line")
			}
		})
	})
}

// SetSize: more wakes exactly those who fit now, in line; less takes nothing away, and refuses who can never fit.
func TestBubbleSemaphoreSetSize(t *testing.T) {
	for _, c := range []struct {
		shape
		to   int64
		want []string
		held int64
	}{
		{shape{1, 1, []int64{1, 1, 1}}, 3, []string{"has", "has", "waits"}, 3},
		{shape{1, 1, []int64{1, 1, 1}}, 1, []string{"waits", "waits", "waits"}, 1},
		{shape{1, 1, []int64{1, 1, 1}}, 100, []string{"has", "has", "has"}, 4},
		{shape{3, 3, []int64{1, 3, 1}}, 5, []string{"has", "waits", "waits"}, 4},
		{shape{3, 3, []int64{2, 1}}, 4, []string{"waits", "waits"}, 3},
		{shape{9, 9, []int64{1, 5, 3}}, 4, []string{"waits", "too large", "waits"}, 9},
		{shape{9, 9, []int64{1, 5, 3}}, 0, []string{"too large", "too large", "too large"}, 9},
		{shape{10, 4, []int64{7, 2, 1}}, 6, []string{"too large", "has", "waits"}, 6},
		{shape{10, 4, []int64{7, 8, 9}}, 6, []string{"too large", "too large", "too large"}, 4},
		{shape{10, 4, []int64{7, 2, 8}}, 7, []string{"waits", "waits", "too large"}, 4},
		{shape{10, 4, []int64{10, 2, 2, 2}}, 8, []string{"too large", "has", "has", "waits"}, 8},
	} {
		c.each(t, fmt.Sprint(c.shape, c.to), func(t *testing.T, s *syncs.Semaphore, _ []func(), outcome func() []string) {
			s.SetSize(c.to)
			if got := outcome(); !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
			if s.Held() != c.held || s.Size() != c.to {
				t.Errorf("held %d, size %d", s.Held(), s.Size())
			}
		})
	}
}

// Who leaves the head of the line lets those behind go on who fit, with nothing released (golang/go#37852).
func TestBubbleSemaphoreLeaves(t *testing.T) {
	for _, c := range []struct {
		shape
		leave []int
		want  []string
	}{
		{shape{10, 5, []int64{6, 2, 2, 2}}, []int{0}, []string{"canceled", "has", "has", "waits"}},
		{shape{10, 5, []int64{6, 2, 2, 2}}, []int{1}, []string{"waits", "canceled", "waits", "waits"}},
		{shape{10, 5, []int64{6, 7, 2, 8, 1}}, []int{0}, []string{"canceled", "waits", "waits", "waits", "waits"}},
		{shape{10, 5, []int64{6, 7, 2, 8, 1}}, []int{0, 1}, []string{"canceled", "canceled", "has", "waits", "waits"}},
		{shape{10, 5, []int64{6, 7, 2, 8, 1}}, []int{3, 1, 0}, []string{"canceled", "canceled", "has", "canceled", "has"}},
		{shape{10, 5, []int64{6, 7, 2, 8, 1}}, []int{4, 3, 2, 1, 0}, []string{"canceled", "canceled", "canceled", "canceled", "canceled"}},
	} {
		c.each(t, fmt.Sprint(c.shape, c.leave), func(t *testing.T, s *syncs.Semaphore, cancel []func(), outcome func() []string) {
			for _, i := range c.leave {
				cancel[i]()
			}
			if got := outcome(); !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// A Release that somebody waits for gives to them: nothing is to be had in between, neither for who comes after, nor if
// there would be something left over.
func TestBubbleSemaphoreFIFO(t *testing.T) {
	shape{1, 1, []int64{1, 1}}.each(t, "handed over", func(t *testing.T, s *syncs.Semaphore, _ []func(), outcome func() []string) {
		s.Release(1)
		if s.TryAcquire(1) {
			t.Error("taken in between")
		}
		if got := outcome(); !slices.Equal(got, []string{"has", "waits"}) {
			t.Error(got)
		}
		s.Release(1)
	})
	shape{5, 3, []int64{3}}.each(t, "not overtaken", func(t *testing.T, s *syncs.Semaphore, _ []func(), outcome func() []string) {
		if s.TryAcquire(1) {
			t.Error("TryAcquire has overtaken who waits for more")
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
		defer cancel()
		if err := s.Acquire(ctx, 1); err != context.DeadlineExceeded {
			t.Errorf("Acquire has overtaken who waits for more: %v", err)
		}
		if err := s.Acquire(ctx, 0); err == nil {
			t.Error("nil after the deadline")
		}
		if err := s.Acquire(context.Background(), 0); err != nil || !s.TryAcquire(0) {
			t.Error("none is not to be had")
		}
		s.Release(1)
		if got := outcome(); got[0] != "has" {
			t.Error(got)
		}
	})
	// One Release for many: more than fit into any buffer.
	line := make([]int64, 100)
	for i := range line {
		line[i] = 1
	}
	shape{100, 100, line}.each(t, "many", func(t *testing.T, s *syncs.Semaphore, _ []func(), outcome func() []string) {
		s.Release(99)
		got := outcome()
		if slices.Index(got, "waits") != 99 || s.Held() != 100 {
			t.Errorf("%q, held %d", got, s.Held())
		}
	})
	shape{100, 100, line}.each(t, "all refused", func(t *testing.T, s *syncs.Semaphore, _ []func(), outcome func() []string) {
		s.SetSize(0)
		if got := outcome(); len(slices.Compact(got)) != 1 || got[0] != "too large" {
			t.Errorf("%q", got)
		}
	})
}

// Grant and cancellation in the same instant: nil if and only if the permits are taken, and none is lost.
func TestSemaphoreGrantOrCancel(t *testing.T) {
	for _, x := range contexts {
		t.Run(x.name, func(t *testing.T) {
			s := syncs.NewSemaphore(3)
			var granted, refused, canceled int
			for i := range some(3000) {
				ctx, cancel := x.make(t)
				s.TryAcquire(2)
				ends := []func(){func() { s.Release(2) }, cancel}
				if i%4 == 0 {
					ends = append(ends, func() { s.SetSize(1) })
				}
				racers := race(s.Queued, inTurn(i, ends...)...)
				err := s.Acquire(ctx, 2)
				switch err {
				case nil:
					granted++
					if s.Held() < 2 {
						t.Fatal("nil, and not held")
					}
					s.Release(2)
				case syncs.ErrTooLarge:
					refused++
				default:
					canceled++
				}
				racers.Wait()
				if st := s.Stats(); s.Queued() || st.Held != 0 || st.Waiting != 0 {
					t.Fatalf("error %v, and something is left: %+v", err, st)
				}
				s.SetSize(3)
			}
			t.Logf("granted %d, refused %d, canceled %d", granted, refused, canceled)
		})
	}
}

// A limit on work that is changed while it is in use.
func TestBubbleSemaphoreAsLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := syncs.NewSemaphore(2)
		var mu sync.Mutex
		at, most := 0, 0
		err := bide.WithNursery(context.Background(), func(ctx context.Context, n *bide.Nursery) error {
			for range 20 {
				n.Go(func(ctx context.Context) error {
					if err := s.Acquire(ctx, 1); err != nil {
						return err
					}
					defer s.Release(1)
					mu.Lock()
					at++
					most = max(most, at)
					mu.Unlock()
					err := bide.Sleep(ctx, time.Second)
					mu.Lock()
					at--
					mu.Unlock()
					return err
				})
			}
			for _, size := range []int64{2, 5, 1, 3} {
				if err := bide.Sleep(ctx, 1500*time.Millisecond); err != nil {
					return err
				}
				mu.Lock()
				if int64(most) > s.Size() {
					t.Errorf("%d at a time, of %d", most, s.Size())
				}
				s.SetSize(size)
				most = 0
				mu.Unlock()
				if err := bide.Sleep(ctx, time.Second); err != nil { // who was too many has gone
					return err
				}
				mu.Lock()
				most = at
				mu.Unlock()
			}
			return nil
		})
		if err != nil || s.Held() != 0 {
			t.Error(err, s.Held())
		}
	})
}

// A Release of too many is found out beside a SetSize as well, and changes nothing.
func TestSemaphoreReleaseBesideSetSize(t *testing.T) {
	rounds := int64(some(some(200_000))) // in a slow build a round takes many times as long
	s := syncs.NewSemaphore(3)
	s.TryAcquire(1)
	var began, done atomic.Int64
	var group sync.WaitGroup
	group.Go(func() {
		for i := range rounds {
			for began.Load() <= i {
				yield()
			}
			s.SetSize([]int64{10, 3}[i%2])
			done.Add(1)
		}
	})
	for i := range rounds {
		began.Add(1)
		for done.Load() <= i {
			if panics(func() { s.Release(2) }) == "" && !t.Failed() {
				t.Error("more was released than was taken")
			}
			yield()
		}
	}
	group.Wait()
	if s.Held() != 1 {
		t.Errorf("held %d", s.Held())
	}
}
