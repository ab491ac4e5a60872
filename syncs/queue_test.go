package syncs_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/syncs"
)

var bg = context.Background()

// mustPut and mustGet are for calls that do not have to wait, or wait for what comes.
func mustPut[T any](t testing.TB, q *syncs.Queue[T], vs ...T) {
	t.Helper()
	for _, v := range vs {
		if err := q.Put(bg, v); err != nil {
			t.Fatal(err)
		}
	}
}

func mustGet[T comparable](t testing.TB, q *syncs.Queue[T], vs ...T) {
	t.Helper()
	for _, want := range vs {
		if v, err := q.Get(bg); v != want || err != nil {
			t.Fatalf("Get: %v, %v, want %v", v, err, want)
		}
	}
}

func TestQueueOrder(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 5, 8, 100} {
		q := syncs.NewQueue[int](n)
		next, in := 0, 0
		for round := range 20 {
			for range (round*7)%n + 1 {
				if in-next == n {
					break
				}
				mustPut(t, q, in)
				in++
			}
			if q.Len() != in-next {
				t.Fatalf("room %d: %d are in, want %d", n, q.Len(), in-next)
			}
			for range (round*5)%n + 1 {
				if next == in {
					break
				}
				mustGet(t, q, next)
				next++
			}
		}
		for ; next < in; next++ {
			mustGet(t, q, next)
		}
		if s := q.Stats(); s.Len != 0 || s.Room != n || s.Puts != uint64(in) || s.Gets != uint64(in) || s.Waits != 0 {
			t.Errorf("%+v", s)
		}
	}
}

func TestQueueTry(t *testing.T) {
	q := syncs.NewQueue[string](1)
	if v, ok := q.TryGet(); ok || v != "" {
		t.Errorf("of an empty queue: %q, %v", v, ok)
	}
	if !q.TryPut("a") || q.TryPut("b") {
		t.Error("TryPut: room for one")
	}
	if v, ok := q.TryGet(); !ok || v != "a" {
		t.Errorf("%q, %v", v, ok)
	}
	q.TryPut("c")
	q.Close()
	if q.TryPut("d") {
		t.Error("TryPut of a closed queue")
	}
	if v, ok := q.TryGet(); !ok || v != "c" {
		t.Errorf("closed: %q, %v", v, ok)
	}
	if v, ok := q.TryGet(); ok || v != "" {
		t.Errorf("closed and empty: %q, %v", v, ok)
	}
}

func TestNewQueuePanics(t *testing.T) {
	if got, want := panics(func() { syncs.NewQueue[int](-1) }), "bide/syncs: NewQueue with room for -1"; got != want {
		t.Errorf("panic %q", got)
	}
}

// Room is taken as it is needed: a queue may be as good as unbounded.
func TestQueueWithoutEnd(t *testing.T) {
	q := syncs.NewQueue[int](1 << 30)
	for i := range 10_000 {
		mustPut(t, q, i)
	}
	for i := range 10_000 {
		mustGet(t, q, i)
	}
}

// Without room a Put waits for its Get, and a Get for its Put; Try meets who waits.
func TestBubbleQueueWithoutRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q syncs.Queue[int]
		if q.TryPut(1) {
			t.Error("TryPut, nobody there")
		}
		if _, ok := q.TryGet(); ok {
			t.Error("TryGet, nobody there")
		}
		got := make(chan int, 10)
		var group sync.WaitGroup
		for range 2 {
			group.Go(func() {
				v, err := q.Get(bg)
				if err != nil {
					t.Error(err)
				}
				got <- v
			})
			synctest.Wait()
		}
		if !q.TryPut(1) || <-got != 1 {
			t.Error("TryPut to a Get")
		}
		mustPut(t, &q, 2)
		if <-got != 2 {
			t.Error("Put to a Get")
		}
		for v := range 3 {
			group.Go(func() { mustPut(t, &q, v) })
			synctest.Wait()
		}
		if s := q.Stats(); s.Putting != 3 || s.Len != 0 || q.Len() != 0 {
			t.Errorf("%+v", s)
		}
		if v, ok := q.TryGet(); !ok || v != 0 {
			t.Errorf("TryGet from a Put: %d, %v", v, ok)
		}
		mustGet(t, &q, 1, 2)
		group.Wait()
		if q.Queued() {
			t.Error("somebody is left")
		}
	})
}

// Those who wait are served in the order of arrival, at both ends, and nobody passes them by.
func TestBubbleQueueIsFair(t *testing.T) {
	for _, room := range []int{0, 1, 3} {
		synctest.Test(t, func(t *testing.T) {
			const n = 10
			q := syncs.NewQueue[int](room)
			var group sync.WaitGroup
			got := make([]int, n)
			for i := range n {
				group.Go(func() { got[i], _ = q.Get(bg) })
				synctest.Wait()
			}
			for i := range n {
				mustPut(t, q, i)
			}
			group.Wait()
			for i, v := range got {
				if v != i {
					t.Fatalf("room %d: the Gets got %v", room, got)
				}
			}
			for i := range n + room {
				group.Go(func() { mustPut(t, q, i) })
				synctest.Wait()
			}
			for i := range n + room {
				mustGet(t, q, i)
				if q.TryPut(-1) != (i >= n) { // room that is made belongs to who waits
					t.Fatalf("room %d: TryPut after %d Gets: %v", room, i+1, i < n)
				} else if i >= n {
					break
				}
			}
			group.Wait()
		})
	}
}

// A canceled Get takes nothing, a canceled Put puts nothing, wherever in line it was.
func TestBubbleQueueWaitersLeave(t *testing.T) {
	for _, leave := range [][]int{{}, {0}, {4}, {2}, {0, 1}, {1, 3}, {3, 4}, {0, 2, 4}, {0, 1, 2, 3}, {1, 2, 3, 4}, {4, 3, 2, 1, 0}} {
		for _, putting := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				const n = 5
				q := syncs.NewQueue[int](1)
				if putting {
					mustPut(t, q, -1)
				}
				var errs, got [n]any
				var cancel [n]func()
				var group sync.WaitGroup
				for i := range n {
					s := open(t, bg)
					cancel[i] = func() { s.Cancel(nil) }
					group.Go(func() {
						if putting {
							errs[i] = q.Put(s, i)
						} else {
							got[i], errs[i] = q.Get(s)
						}
					})
					synctest.Wait()
				}
				for _, i := range leave {
					cancel[i]()
				}
				synctest.Wait()
				if s := q.Stats(); s.Getting+s.Putting != n-len(leave) || s.Failed != uint64(len(leave)) || s.Waits != n {
					t.Errorf("leave %v: %+v", leave, s)
				}
				var stay []int
				for i := range n {
					if slices.Contains(leave, i) {
						if err, _ := errs[i].(error); !errors.Is(err, context.Canceled) {
							t.Errorf("leave %v: waiter %d: %v", leave, i, err)
						}
					} else {
						stay = append(stay, i)
					}
				}
				if putting {
					mustGet(t, q, -1)
					mustGet(t, q, stay...)
					if v, ok := q.TryGet(); ok {
						t.Errorf("leave %v: %d was put by a Put that failed", leave, v)
					}
				} else {
					mustPut(t, q, stay...)
				}
				group.Wait()
				for _, i := range stay {
					if errs[i] != nil || !putting && got[i] != i {
						t.Errorf("leave %v: waiter %d: %v, %v", leave, i, got[i], errs[i])
					}
				}
				if q.Queued() || q.Len() != 0 {
					t.Errorf("leave %v: something is left", leave)
				}
			})
		}
	}
}

// Close wakes both sides; what is in can be taken out; everything else is refused from then on.
func TestBubbleQueueClose(t *testing.T) {
	for _, n := range []int{1, 8, 100} { // more than a batch
		synctest.Test(t, func(t *testing.T) {
			q, empty := syncs.NewQueue[int](2), new(syncs.Queue[int])
			mustPut(t, q, 1, 2)
			ended := make(chan error, 2*n)
			for range n {
				go func() { ended <- q.Put(bg, 3) }()
				go func() { _, err := empty.Get(bg); ended <- err }()
			}
			synctest.Wait()
			if len(ended) != 0 {
				t.Fatal("they do not wait")
			}
			q.Close()
			empty.Close()
			for range 2 * n {
				if err := <-ended; err != syncs.ErrClosed {
					t.Fatalf("a wait ended with %v", err)
				}
			}
			for range 2 {
				if err := q.Put(bg, 4); err != syncs.ErrClosed {
					t.Errorf("Put: %v", err)
				}
				q.Close()
			}
			mustGet(t, q, 1, 2)
			for _, q := range []*syncs.Queue[int]{q, empty} {
				if v, err := q.Get(bg); v != 0 || err != syncs.ErrClosed {
					t.Errorf("Get: %d, %v", v, err)
				}
				if q.Queued() {
					t.Error("somebody is left")
				}
			}
			canceled, cancel := context.WithCancel(bg)
			cancel()
			if err := q.Put(canceled, 5); err != context.Canceled { // the context comes first
				t.Errorf("Put, canceled: %v", err)
			}
			if _, err := q.Get(canceled); err != context.Canceled {
				t.Errorf("Get, canceled: %v", err)
			}
		})
	}
}

// Under a canceled scope what does not take a context works.
func TestQueueCloseUnderCanceledScope(t *testing.T) {
	q := syncs.NewQueue[int](2)
	err := bide.Run(bg, func(s *bide.Scope) error {
		s.Cancel(nil)
		if !q.TryPut(1) {
			t.Error("TryPut")
		}
		if v, ok := q.TryGet(); v != 1 || !ok {
			t.Error("TryGet")
		}
		q.Close()
		return nil
	})
	if err != nil || q.Put(bg, 1) != syncs.ErrClosed {
		t.Error(err)
	}
}

// Value and cancellation in the same instant: nil if and only if the value was taken, or put; none is lost, none twice.
func TestQueueGrantOrCancel(t *testing.T) {
	for _, c := range contexts {
		for _, room := range []int{0, 1} {
			var got, put, canceled int
			for i := range some(1500) {
				q := syncs.NewQueue[int](room)
				ctx, cancel := c.make(t)
				racers := race(q.Queued, inTurn(i, func() { q.TryPut(1) }, cancel)...)
				v, err := q.Get(ctx)
				racers.Wait()
				_, left := q.TryGet()
				taken := err == nil
				if taken != (v == 1) || taken && left || !taken && !left && room > 0 {
					t.Fatalf("Get: %d, %v, and left in the queue: %v", v, err, left)
				}
				if taken {
					got++
				} else {
					canceled++
				}

				ctx, cancel = c.make(t)
				for q.TryPut(0) {
				}
				var out []int
				racers = race(q.Queued, inTurn(i, func() {
					if v, ok := q.TryGet(); ok {
						out = append(out, v)
					}
				}, cancel)...)
				err = q.Put(ctx, 1)
				racers.Wait()
				for v, ok := q.TryGet(); ok; v, ok = q.TryGet() {
					out = append(out, v)
				}
				if in := slices.Contains(out, 1); in != (err == nil) {
					t.Fatalf("Put: %v, and it came out: %v", err, in)
				}
				if err == nil {
					put++
				} else {
					canceled++
				}
				if q.Queued() {
					t.Fatal("somebody is left")
				}
			}
			t.Logf("%s, room %d: got %d, put %d, canceled %d", c.name, room, got, put, canceled)
		}
	}
}

// Many at both ends: every value arrives once, and those of one producer in order.
func TestQueueManyToMany(t *testing.T) {
	const producers, consumers = 4, 4
	type value struct{ from, n int }
	for _, room := range []int{0, 1, 16} {
		atProcs(t, func(t *testing.T) {
			each := some(2000)
			q := syncs.NewQueue[value](room)
			var putting, getting sync.WaitGroup
			for p := range producers {
				putting.Go(func() {
					for n := range each {
						mustPut(t, q, value{p, n + 1})
					}
				})
			}
			var sums [consumers]int
			for c := range consumers {
				getting.Go(func() {
					var last [producers]int
					for {
						v, err := q.Get(bg)
						if err == syncs.ErrClosed {
							return
						}
						if err != nil || v.n <= last[v.from] {
							t.Errorf("%v after %d, error %v", v, last[v.from], err)
							return
						}
						last[v.from] = v.n
						sums[c] += v.n
					}
				})
			}
			putting.Wait()
			q.Close()
			getting.Wait()
			sum := 0
			for _, s := range sums {
				sum += s
			}
			if want := producers * each * (each + 1) / 2; sum != want || q.Len() != 0 {
				t.Errorf("room %d: the sum is %d, want %d; %d are left", room, sum, want, q.Len())
			}
		})
	}
}

// A bound on both ends, in a bubble: never early, and at its instant.
func TestBubbleQueueBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := syncs.NewQueue[int](1)
		start := time.Now()
		_, err := bide.Within(bg, time.Second, q.Get)
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
			t.Errorf("Get: %v after %v", err, time.Since(start))
		}
		mustPut(t, q, 1)
		err = bide.FailAfter(bg, time.Second, func(ctx context.Context) error { return q.Put(ctx, 2) })
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 2*time.Second {
			t.Errorf("Put: %v after %v", err, time.Since(start))
		}
		mustGet(t, q, 1)
		if q.Queued() || q.Len() != 0 {
			t.Error("something is left")
		}
	})
}
