package syncs_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/syncs"
)

var errRefused = errors.New("refused")

// A thing is an item of a pool that knows what happens to it.
type thing struct {
	id        int
	lent      atomic.Bool
	destroyed atomic.Bool
}

// A factory makes things for a pool, and looks that each is lent to one at a time, and destroyed once.
type factory struct {
	t    testing.TB
	ids  atomic.Int64
	live atomic.Int64
	most atomic.Int64 // at once
}

func (f *factory) make(context.Context) (*thing, error) {
	n := f.live.Add(1)
	for m := f.most.Load(); n > m && !f.most.CompareAndSwap(m, n); m = f.most.Load() {
	}
	return &thing{id: int(f.ids.Add(1))}, nil
}

func (f *factory) destroy(c *thing) {
	if c.lent.Load() || !c.destroyed.CompareAndSwap(false, true) {
		f.t.Errorf("thing %d: destroyed while lent (%v), or twice", c.id, c.lent.Load())
	}
	f.live.Add(-1)
}

func (f *factory) lend(c *thing) *thing {
	if c.destroyed.Load() || !c.lent.CompareAndSwap(false, true) {
		f.t.Errorf("thing %d: lent to two, or destroyed (%v)", c.id, c.destroyed.Load())
	}
	return c
}

func (f *factory) giveBack(c *thing) *thing {
	c.lent.Store(false)
	return c
}

// mustBorrow is for a Get that succeeds.
func mustBorrow[T any](t testing.TB, p *syncs.Pool[T]) T {
	t.Helper()
	v, err := p.Get(bg)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// shut closes the pool and waits for what is left of it.
func shut[T any](t testing.TB, p *syncs.Pool[T]) {
	t.Helper()
	p.Close()
	if err := p.Wait(bg); err != nil {
		t.Error(err)
	}
	if s := p.Stats(); s.Total != 0 || s.Idle+s.Lent+s.Making+s.Waiting != 0 {
		t.Errorf("%+v", s)
	}
}

func TestPoolLastInFirstOut(t *testing.T) {
	f := &factory{t: t}
	p := &syncs.Pool[*thing]{New: f.make, Destroy: f.destroy, Max: 3}
	a, b, c := mustBorrow(t, p), mustBorrow(t, p), mustBorrow(t, p)
	p.Put(b)
	p.Put(c)
	p.Put(a)
	for _, want := range []*thing{a, c, b} {
		if got := mustBorrow(t, p); got != want {
			t.Errorf("got %d, want %d", got.id, want.id)
		}
	}
	if c, ok := p.TryGet(); ok || c != nil {
		t.Error("TryGet: there is none")
	}
	p.Put(c)
	if got, ok := p.TryGet(); !ok || got != c {
		t.Error("TryGet: there is one")
	}
	for _, x := range []*thing{a, b, c} {
		p.Put(x)
	}
	if s := p.Stats(); s.Idle != 3 || s.Total != 3 || s.Made != 3 || s.Gets != 7 || s.Waits != 3 || s.Failed != 0 {
		t.Errorf("%+v", s)
	}
	shut(t, p)
	if f.live.Load() != 0 {
		t.Errorf("%d are left", f.live.Load())
	}
}

func TestPoolMisuse(t *testing.T) {
	var none context.Context
	ok := func(context.Context) (int, error) { return 1, nil }
	for _, c := range []struct {
		want string
		call func()
	}{
		{"Get of a Pool with a nil context", func() { _, _ = (&syncs.Pool[int]{New: ok}).Get(none) }},
		{"Wait of a Pool with a nil context", func() { _ = new(syncs.Pool[int]).Wait(none) }},
		{"Get of a Pool without New", func() { _, _ = new(syncs.Pool[int]).Get(bg) }},
		{"Get of a Pool with a negative Max", func() { _, _ = (&syncs.Pool[int]{New: ok, Max: -1}).Get(bg) }},
		{"Put of an item that the Pool has not lent", func() { new(syncs.Pool[int]).Put(1) }},
		{"Drop of an item that the Pool has not lent", func() { new(syncs.Pool[int]).Drop(1) }},
		{"Put of an item that the Pool has not lent", func() {
			p := &syncs.Pool[int]{New: ok}
			v := mustBorrow(t, p)
			p.Put(v)
			p.Put(v)
		}},
	} {
		if got := panics(c.call); got != "bide/syncs: "+c.want {
			t.Errorf("panic %q, want %q", got, c.want)
		}
	}
	// The panics leave it usable.
	p := &syncs.Pool[int]{New: ok, Max: 1}
	panics(func() { p.Put(1) })
	panics(func() { p.Drop(1) })
	p.Put(mustBorrow(t, p))
	shut(t, p)
}

// Without Max there may be any number, without Destroy nothing has to be done.
func TestPoolWithoutBounds(t *testing.T) {
	n := 0
	var mu sync.Mutex
	p := &syncs.Pool[int]{New: func(context.Context) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		n++
		return n, nil
	}}
	var all []int
	for range 100 {
		all = append(all, mustBorrow(t, p))
	}
	for _, v := range all[:50] {
		p.Put(v)
	}
	for _, v := range all[50:] {
		p.Drop(v)
	}
	if s := p.Stats(); s.Idle != 50 || s.Total != 50 || s.Destroyed != 50 {
		t.Errorf("%+v", s)
	}
	shut(t, p)
}

// The making of an item survives the caller who asked: it goes to the next, or is idle.
func TestBubblePoolMakingSurvivesItsCaller(t *testing.T) {
	for _, others := range []int{0, 1} {
		for _, c := range contexts {
			synctest.Test(t, func(t *testing.T) {
				type name struct{}
				made := make(chan error)
				p := &syncs.Pool[int]{Max: 1, New: func(ctx context.Context) (int, error) {
					if ctx.Value(name{}) != "first" {
						t.Error("the caller's values are not there")
					}
					if _, ok := ctx.Deadline(); ok {
						t.Error("the caller's deadline is there")
					}
					err := <-made
					if ctx.Err() != nil || bide.Check(ctx) != nil {
						t.Error("the caller's cancellation is there")
					}
					// A scope below it is not the caller's either.
					if err := bide.FailAfter(ctx, time.Hour, func(ctx context.Context) error { return bide.Sleep(ctx, time.Minute) }); err != nil {
						t.Error(err)
					}
					return 7, err
				}}
				ctx, cancel := c.make(t)
				first := make(chan error, 1)
				go func() { _, err := p.Get(context.WithValue(ctx, name{}, "first")); first <- err }()
				synctest.Wait()
				next := make(chan int, 1)
				if others > 0 {
					go func() { next <- mustBorrow(t, p) }()
					synctest.Wait()
				}
				cancel()
				if err := <-first; !c.want(err) {
					t.Errorf("error %v", err)
				}
				if s := p.Stats(); s.Making != 1 || s.Waiting != others {
					t.Errorf("%+v", s)
				}
				made <- nil
				if others == 0 {
					time.Sleep(time.Hour)
					synctest.Wait()
					if v, ok := p.TryGet(); v != 7 || !ok {
						t.Error("the item that was made is not idle")
					}
				} else if v := <-next; v != 7 {
					t.Errorf("the next one got %d", v)
				}
				p.Put(7)
				shut(t, p)
			})
		}
	}
}

// An error of New goes to the Get that it was called for, and to nobody else; the next one has its own attempt.
func TestBubblePoolNewFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := make(chan error)
		calls := 0
		p := &syncs.Pool[int]{Max: 1, New: func(context.Context) (int, error) { calls++; return calls, <-answers }}
		ended := make(chan string, 3)
		for i := range 3 {
			go func() {
				v, err := p.Get(bg)
				ended <- fmt.Sprint(i, v, err)
			}()
			synctest.Wait()
		}
		for i, want := range []string{"0 0 refused", "1 0 refused", "2 3 <nil>"} {
			if calls != i+1 {
				t.Errorf("%d calls of New, want %d", calls, i+1)
			}
			if i < 2 {
				answers <- errRefused
			} else {
				answers <- nil
			}
			if got := <-ended; got != want {
				t.Errorf("%q, want %q", got, want)
			}
			synctest.Wait()
		}
		if s := p.Stats(); s.NewErrors != 2 || s.Failed != 2 || s.Made != 1 || s.Lent != 1 {
			t.Errorf("%+v", s)
		}
		p.Drop(3)
		shut(t, p)
	})
}

// Bound bounds New, not the Get; and New's context ends with it.
func TestBubblePoolBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var last context.Context
		p := &syncs.Pool[int]{Max: 1, Bound: time.Second, New: func(ctx context.Context) (int, error) {
			last = ctx
			<-ctx.Done()
			return 0, ctx.Err()
		}}
		start := time.Now()
		_, err := bide.Within(bg, time.Hour, p.Get)
		if err != context.DeadlineExceeded || time.Since(start) != time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		p.New = func(ctx context.Context) (int, error) { last = ctx; return 1, nil }
		v := mustBorrow(t, p)
		synctest.Wait()
		if last.Err() == nil {
			t.Error("the context of a New that has returned lives on")
		}
		p.Put(v)
		shut(t, p)
	})
}

// Those who wait are served in the order of arrival; those who leave lose nothing.
func TestBubblePoolWaitersLeave(t *testing.T) {
	for _, leave := range [][]int{{}, {0}, {4}, {2}, {0, 1}, {1, 3}, {3, 4}, {0, 2, 4}, {0, 1, 2, 3}, {1, 2, 3, 4}, {4, 3, 2, 1, 0}} {
		for _, drop := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				const n = 5
				f := &factory{t: t}
				p := &syncs.Pool[*thing]{New: f.make, Destroy: f.destroy, Max: 1}
				held := mustBorrow(t, p)
				var order []int
				var errs [n]error
				var cancel [n]func()
				for i := range n {
					s := open(t, bg)
					cancel[i] = func() { s.Cancel(nil) }
					go func() {
						var v *thing
						if v, errs[i] = p.Get(s); errs[i] != nil {
							return
						}
						order = append(order, i)
						if drop {
							p.Drop(v)
						} else {
							p.Put(v)
						}
					}()
					synctest.Wait()
				}
				var stay []int
				for i := range n {
					if slices.Contains(leave, i) {
						cancel[i]()
					} else {
						stay = append(stay, i)
					}
				}
				synctest.Wait()
				if s := p.Stats(); s.Waiting != len(stay) || s.Failed != uint64(len(leave)) {
					t.Errorf("leave %v: %+v", leave, s)
				}
				if drop {
					p.Drop(held)
				} else {
					p.Put(held)
				}
				synctest.Wait()
				if !slices.Equal(order, stay) {
					t.Errorf("leave %v: served %v", leave, order)
				}
				for i, err := range errs {
					if (err != nil) != slices.Contains(leave, i) {
						t.Errorf("leave %v: %d got %v", leave, i, err)
					}
				}
				shut(t, p)
				if f.live.Load() != 0 || f.most.Load() != 1 {
					t.Errorf("%d are left, there were up to %d", f.live.Load(), f.most.Load())
				}
			})
		}
	}
}

// Close: waits end, what is idle is destroyed, what is lent is when it comes back, what is being made is canceled.
func TestBubblePoolClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &factory{t: t}
		stuck := false
		p := &syncs.Pool[*thing]{Destroy: f.destroy, Max: 4, New: func(ctx context.Context) (*thing, error) {
			if stuck {
				<-ctx.Done()
				return nil, context.Cause(ctx)
			}
			return f.make(ctx)
		}}
		a, b, c := mustBorrow(t, p), mustBorrow(t, p), mustBorrow(t, p)
		p.Put(a)
		p.Put(b)
		mustBorrow(t, p)
		mustBorrow(t, p)
		p.Put(b)
		stuck = true
		ended := make(chan error, 60)
		for range 40 { // more than a batch; one of them gets what is idle
			go func() { _, err := p.Get(bg); ended <- err }()
		}
		gone := make(chan error, 1)
		go func() { gone <- p.Wait(bg) }()
		synctest.Wait()
		if err := <-ended; err != nil || len(ended) != 0 {
			t.Fatalf("%v, and %d more", err, len(ended))
		}
		p.Put(a) // one of the others
		if err := <-ended; err != nil {
			t.Error(err)
		}
		p.Close()
		for range 38 {
			if err := <-ended; err != syncs.ErrClosed {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if s := p.Stats(); s.Making != 0 || s.Lent != 3 || s.Total != 3 {
			t.Errorf("%+v", s)
		}
		if _, err := p.Get(bg); err != syncs.ErrClosed {
			t.Errorf("Get: %v", err)
		}
		if _, ok := p.TryGet(); ok {
			t.Error("TryGet")
		}
		p.Close()
		p.Put(c)
		p.Drop(b)
		synctest.Wait()
		if len(gone) != 0 || f.live.Load() != 1 {
			t.Errorf("Wait has returned, though one is lent: %d; %d live", len(gone), f.live.Load())
		}
		if err := bide.FailAfter(bg, time.Second, p.Wait); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Wait, bounded: %v", err)
		}
		p.Put(a)
		if err := <-gone; err != nil || f.live.Load() != 0 {
			t.Errorf("Wait: %v, %d live", err, f.live.Load())
		}
	})
}

// Close while nothing was ever made; and a New that does not care is waited for by Wait, and its item destroyed.
func TestBubblePoolCloseEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p syncs.Pool[int]
		shut(t, &p)

		made, destroyed := make(chan int), 0
		q := &syncs.Pool[int]{
			New:     func(context.Context) (int, error) { return <-made, nil },
			Destroy: func(v int) { destroyed += v },
		}
		go func() { _, _ = q.Get(bg) }()
		synctest.Wait()
		q.Close()
		go func() { time.Sleep(time.Minute); made <- 7 }()
		start := time.Now()
		shut(t, q)
		if time.Since(start) != time.Minute || destroyed != 7 {
			t.Errorf("after %v, destroyed %d", time.Since(start), destroyed)
		}
	})
}

// Destroy is called with nothing locked: it may use the pool.
func TestPoolDestroyMayUseThePool(t *testing.T) {
	var p *syncs.Pool[int]
	calls := 0
	p = &syncs.Pool[int]{
		New: func(context.Context) (int, error) { return 1, nil },
		Destroy: func(int) {
			calls++
			if s := p.Stats(); s.Total == 0 {
				t.Error("what is being destroyed does not count")
			}
			p.TryGet()
			p.Close()
		},
		Max: 2,
	}
	p.Drop(mustBorrow(t, p))
	shut(t, p)
	if calls != 1 {
		t.Errorf("destroyed %d times", calls)
	}
}

// A panic or a Goexit in Destroy makes room all the same, and the others are destroyed too.
func TestPoolDestroyPanics(t *testing.T) {
	for name, leave := range map[string]func(){"panic": func() { panic("brittle") }, "Goexit": runtime.Goexit} {
		calls := 0
		p := &syncs.Pool[int]{New: func(context.Context) (int, error) { return 1, nil }, Max: 3,
			Destroy: func(int) { calls++; leave() }}
		own := func(f func()) { // on a goroutine of its own, which may end
			over := make(chan struct{})
			go func() {
				defer close(over)
				defer func() {
					if r := recover(); r != nil && r != "brittle" {
						t.Errorf("panic %v", r)
					}
				}()
				f()
			}()
			<-over
		}
		a, b, c := mustBorrow(t, p), mustBorrow(t, p), mustBorrow(t, p)
		own(func() { p.Drop(a) })
		d := mustBorrow(t, p) // would hang
		for _, v := range []int{b, c, d} {
			p.Put(v)
		}
		own(p.Close)
		if calls != 4 {
			t.Errorf("%s: destroyed %d", name, calls)
		}
		shut(t, p)
	}
}

// New that leaves by Goexit is an error, and keeps nothing.
func TestPoolGoexitInNew(t *testing.T) {
	first := true
	p := &syncs.Pool[int]{Max: 1, New: func(context.Context) (int, error) {
		if first {
			first = false
			runtime.Goexit()
		}
		return 1, nil
	}}
	if _, err := p.Get(bg); err == nil || err.Error() != "bide/syncs: New of a Pool has ended its goroutine" {
		t.Errorf("error %v", err)
	}
	p.Put(mustBorrow(t, p))
	shut(t, p)
}

// Under a canceled scope what does not take a context works.
func TestPoolUnderCanceledScope(t *testing.T) {
	f := &factory{t: t}
	p := &syncs.Pool[*thing]{New: f.make, Destroy: f.destroy, Max: 2}
	err := bide.Run(bg, func(s *bide.Scope) error {
		a, err := p.Get(s)
		if err != nil {
			return err
		}
		b, err := p.Get(s)
		if err != nil {
			return err
		}
		s.Cancel(nil)
		p.Put(a)
		p.Drop(b)
		if c, ok := p.TryGet(); ok {
			p.Put(c)
		} else {
			t.Error("TryGet")
		}
		p.Close()
		return nil
	})
	if err != nil || f.live.Load() != 0 {
		t.Errorf("%v, %d live", err, f.live.Load())
	}
}

// Item and cancellation in the same instant: nil if and only if it was lent, and it is never lost.
func TestPoolGrantOrCancel(t *testing.T) {
	for _, c := range contexts {
		var got, canceled int
		f := &factory{t: t}
		p := &syncs.Pool[*thing]{New: f.make, Destroy: f.destroy, Max: 1}
		held := f.lend(mustBorrow(t, p))
		for i := range some(2000) {
			ctx, cancel := c.make(t)
			give := func() { p.Put(f.giveBack(held)) }
			if i%4 == 0 {
				give = func() { p.Drop(f.giveBack(held)) }
			}
			racers := race(p.Queued, inTurn(i, give, cancel)...)
			v, err := p.Get(ctx)
			racers.Wait()
			if err == nil {
				got++
			} else {
				canceled++
				v = mustBorrow(t, p) // would hang
			}
			held = f.lend(v)
		}
		p.Put(f.giveBack(held))
		shut(t, p)
		if f.live.Load() != 0 || f.most.Load() != 1 {
			t.Errorf("%d are left, there were up to %d", f.live.Load(), f.most.Load())
		}
		t.Logf("%s: got %d, canceled %d, made %d", c.name, got, canceled, f.ids.Load())
	}
}

// The same for an item that is being made.
func TestPoolMadeOrCancel(t *testing.T) {
	for _, c := range contexts {
		var got, canceled int
		f := &factory{t: t}
		made := make(chan struct{})
		p := &syncs.Pool[*thing]{Destroy: f.destroy, Max: 1, New: func(ctx context.Context) (*thing, error) {
			<-made
			return f.make(ctx)
		}}
		for i := range some(2000) {
			ctx, cancel := c.make(t)
			racers := race(p.Queued, inTurn(i, func() { made <- struct{}{} }, cancel)...)
			v, err := p.Get(ctx)
			racers.Wait()
			if err == nil {
				got++
			} else {
				canceled++
				v = mustBorrow(t, p) // would hang
			}
			p.Drop(v)
		}
		shut(t, p)
		if f.live.Load() != 0 || f.most.Load() != 1 {
			t.Errorf("%d are left, there were up to %d", f.live.Load(), f.most.Load())
		}
		t.Logf("%s: got %d, canceled %d, made %d", c.name, got, canceled, f.ids.Load())
	}
}

// What was made for a Get goes to that one, though another has waited longer; an error that follows is the other's own.
// (Else the one would go away with the other's item, and the error would meet nobody: the other one would wait, and
// nobody would try for it any more.)
func TestBubblePoolMadeForWhoAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := []chan error{make(chan error), make(chan error)}
		calls := 0
		p := &syncs.Pool[int]{Max: 2, New: func(context.Context) (int, error) {
			calls++
			n := calls
			return n, <-answers[n-1]
		}}
		type got struct {
			v   int
			err error
		}
		var gets [2]got
		var ended [2]bool
		for i := range gets {
			go func() {
				gets[i].v, gets[i].err = p.Get(bg)
				ended[i] = true
			}()
			synctest.Wait()
		}
		answers[1] <- nil
		synctest.Wait()
		if ended != [2]bool{false, true} || gets[1] != (got{2, nil}) {
			t.Fatalf("the second one's was made: ended %v, %v", ended, gets)
		}
		answers[0] <- errRefused
		synctest.Wait()
		if !ended[0] || gets[0] != (got{0, errRefused}) {
			t.Fatalf("the first one's has failed: ended %v, %v", ended, gets)
		}
		p.Put(2)
		shut(t, p)
	})
}
