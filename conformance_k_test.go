package bide_test

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/bidetest"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/registry"
	"bide.invalid/bide/syncs"
	"bide.invalid/bide/timer"
)

// K. The test clock, and hooks.

// A virtual clock goes forward only, by hand, or to the next deadline when everybody waits; what is not on it does not
// notice. (It has no rate that could change.)
var _ = register(112, "virtual_clock", func(c *C) {
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		c.Panics(func() { vc.Advance(-1) }, "bide/clock: Advance by -1ns")
		c.Equal(elapsed(vc), time.Duration(0), "the time, after that")
		vc.Advance(0)
		c.Equal(elapsed(vc), time.Duration(0), "the time")

		// To the next deadline, whoever set it, in order, and no further; those that are set on the way included.
		var woken []time.Duration
		sleeper := func(ds ...time.Duration) *Op {
			return c.Start(func() error {
				for _, d := range ds {
					if err := bide.Sleep(ctx, d); err != nil {
						return err
					}
					woken = append(woken, elapsed(vc))
				}
				return nil
			})
		}
		a := sleeper(3*time.Second, 4*time.Second)
		b := sleeper(5*time.Second, time.Nanosecond)
		last := time.Duration(0)
		bidetest.JumpUntil(c, vc, func() bool {
			c.True(elapsed(vc) >= last, "never backwards: %v after %v", elapsed(vc), last)
			last = elapsed(vc)
			return a.Ended() && b.Ended()
		})
		c.Equal(woken, []time.Duration{3 * time.Second, 5 * time.Second, 5*time.Second + 1, 7 * time.Second}, "woken at")
		c.Equal(elapsed(vc), 7*time.Second, "the time")

		// What was set for the past comes now, and the clock stays.
		vc.Advance(time.Hour)
		now := vc.Now()
		called := false
		timer.AfterFunc(0, func() { called = true }, timer.On(vc))
		bidetest.JumpUntil(c, vc, func() bool { return called })
		c.Equal(vc.Now(), now, "the time")

		// Never to Forever.
		s := bide.Open(ctx)
		ever := c.Start(func() error { return bide.Sleep(s, time.Duration(clock.Forever)) })
		ever.Parked("a sleep for ever")
		c.True(s.SetTimeout(time.Duration(clock.Forever)), "a deadline never")
		vc.NewAlarm(func(clock.Instant) { c.Error("an alarm that was set to Forever") }).Set(clock.Forever)
		c.True(!vc.Jump(), "nothing to jump to")
		c.Equal(vc.Now(), now, "the time")
		vc.Advance(time.Duration(clock.Forever) - 1)
		ever.Parked("the sleep, at the end of time")
		c.True(vc.Now().Before(clock.Forever), "the time is not Forever")
		s.Cancel(nil)
		c.Canceled(ever.Returned("the sleep"))
		s.Close(nil)
	})

	// Everybody is at rest before each jump: whoever was woken has gone on to his next wait, however far that is.
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		var e syncs.Event
		var order []string
		relay := c.Start(func() error {
			err := e.Wait(ctx)
			for range 100 {
				runtime.Gosched()
			}
			order = append(order, "woken and gone on")
			return err
		})
		first := c.Start(func() error { err := bide.Sleep(ctx, 1); order = append(order, "first"); e.Set(); return err })
		second := c.Start(func() error { err := bide.Sleep(ctx, 2); order = append(order, "second"); return err })
		bidetest.JumpUntil(c, vc, func() bool { return relay.Ended() && first.Ended() && second.Ended() })
		c.Equal(order, []string{"first", "woken and gone on", "second"}, "order")
	})

	// A clock that nobody was given affects nobody.
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		other, free := clock.NewVirtual(), bide.Open(context.Background(), bide.Timeout(time.Hour))
		under := c.Start(func() error { return bide.FailAfter(ctx, time.Hour, blk) })
		monotonic := c.Start(func() error { return blk(free) })
		var fired atomic.Bool
		tm := timer.AfterFunc(time.Hour, func() { fired.Store(true) }, timer.On(other))
		under.Parked("on the clock")
		monotonic.Parked("on none")
		other.Advance(time.Hour - 1)
		c.True(other.Jump() && !other.Jump(), "the other clock has one deadline")
		c.Settle()
		c.True(fired.Load(), "it has come")
		under.Parked("on the clock, still")
		monotonic.Parked("on none, still")
		c.Equal(elapsed(vc), time.Duration(0), "the time")
		vc.Advance(time.Hour)
		c.TimeoutError(under.Returned("on the clock"))
		monotonic.Parked("on none, still")
		time.Sleep(time.Hour) // the bubble's time, which is the monotonic clock's
		c.Canceled(monotonic.Returned("on none"))
		tm.StopWait()
		free.Close(nil)
	})
})

// Somebody in a call that waits for the world outside is busy: the clock stands still for him.
var _ = register(113, "busy_is_not_parked", func(c *C) {
	here, there := net.Pipe() // outside of the bubble, as a connection is
	defer here.Close()
	go there.Write([]byte("x"))
	var outside sync.Mutex
	outside.Lock()
	unlock := make(chan struct{})
	go func() { <-unlock; outside.Unlock() }()
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		var at, after time.Duration
		busy := c.Start(func() error {
			if err := bide.Sleep(ctx, time.Second); err != nil {
				return err
			}
			_, err := bide.Blocking(ctx, func(context.Context) (int, error) { return here.Read(make([]byte, 1)) })
			at = elapsed(vc)
			close(unlock)
			_, _ = bide.Blocking(ctx, func(context.Context) (int, error) {
				outside.Lock()
				return 0, nil
			}, bide.Abandon())
			after = elapsed(vc)
			return err
		})
		other := c.Start(func() error { return bide.Sleep(ctx, time.Hour) })
		bidetest.JumpUntil(c, vc, busy.Ended)
		c.NoError(busy.Returned("what was busy"))
		c.Equal(at, time.Second, "the time when it had read")
		c.Equal(after, time.Second, "the time when it had locked")
		other.Parked("somebody else")
		bidetest.JumpUntil(c, vc, other.Ended)
		c.Equal(elapsed(vc), time.Hour, "the time when nobody was busy any more")
	})
})

// A spy writes down what it is told of scopes, and then does something.
type spy struct {
	mu   sync.Mutex
	told []string
	then func()
}

func (o *spy) tell(call string, s registry.Scope) {
	o.mu.Lock()
	o.told = append(o.told, call+" "+s.Context().(*bide.Scope).Name())
	o.mu.Unlock()
	if o.then != nil {
		o.then()
	}
}

func (o *spy) Opened(s, above registry.Scope) {
	call := "opened"
	if above != nil {
		call += " below " + above.Context().(*bide.Scope).Name() + ","
	}
	o.tell(call, s)
}

func (o *spy) Closed(s registry.Scope) { o.tell("closed", s) }

func (o *spy) Timer(any, bool) {}

// There is one slot for who wants to know of scopes. Empty it costs one look at an opening; an observer that panics is
// logged and removed, and the scopes do not notice.
var _ = register(114, "observer", func(c *C) {
	tree := func() {
		c.NoError(bide.Run(context.Background(), func(s *bide.Scope) error {
			s.Done()
			std, stop := context.WithCancel(s)
			defer stop()
			c.NoError(bide.FailAfter(std, time.Hour, func(context.Context) error { return nil }, bide.Name("b")))
			c.NoError(bide.Shield(s, time.Hour, func(context.Context) error { return nil }, bide.Name("c")))
			return bide.WithNursery(s, func(ctx context.Context, n *bide.Nursery) error {
				var child syncs.Event
				n.Go(func(context.Context) error { child.Set(); return nil }, bide.Name("e"))
				if err := child.Wait(ctx); err != nil {
					return err
				}
				for !n.TryGo(func(context.Context) error { return nil }, bide.Name("f")) { // e has set child, and may be there yet
					runtime.Gosched()
				}
				n.Service(func(context.Context) error { return nil })
				return nil
			}, bide.Name("d"), bide.Limit(1))
		}, bide.Name("a")))
	}
	opened := []string{"opened a", "opened below a, b", "opened below a, c", "opened below a, d", "opened below d, ",
		"opened below d, e", "opened below d, f"}
	closed := []string{"closed ", "closed a", "closed b", "closed c", "closed d", "closed e", "closed f"}

	o := &spy{}
	before := bide.Open(context.Background(), bide.Name("before"))
	before.Done() // the first of the process tries the bridge, with a scope
	leave, ok := registry.Observe(o)
	c.True(ok, "the slot is free")
	_, second := registry.Observe(&spy{})
	c.True(!second, "there is one")
	tree()
	before.Close(nil)
	after := bide.Open(context.Background(), bide.Name("after"))
	leave()
	tree()
	after.Close(nil)
	c.Equal(o.told[len(o.told)-1], "opened after", "the last that it was told")
	told := slices.Sorted(slices.Values(o.told[:len(o.told)-1]))
	c.Equal(told, slices.Concat(closed, opened), "what the observer was told")

	// What it costs when nobody is there: nothing that can be counted.
	if !raceEnabled {
		c.Equal(testing.AllocsPerRun(100, func() { discard(bide.FailAfter(context.Background(), time.Hour, fine)) }), 1.0, "allocations")
	}

	for _, call := range []int{1, 2, 5} { // it panics at its n-th
		var log bytes.Buffer
		old := slog.Default()
		slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
		o := &spy{}
		n := 0
		o.then = func() {
			if n++; n == call {
				panic("the observer's")
			}
		}
		_, ok := registry.Observe(o)
		c.True(ok, "the slot is free")
		tree()
		tree()
		slog.SetDefault(old)
		c.True(!registry.On(), "it was removed")
		c.Equal(len(o.told), call, "calls of the observer")
		c.Equal(bytes.Count(log.Bytes(), []byte("the observer's")), 1, "lines in the log")
	}

	// Observers come and go while scopes do: each is told of openings first, and of an end at most once.
	c.Bubble(func(ctx context.Context) {
		var group sync.WaitGroup
		stop := make(chan struct{})
		for range 4 {
			group.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
						c.NoError(bide.FailAfter(ctx, time.Hour, func(ctx context.Context) error { ctx.Done(); return nil }, bide.Name("x")))
					}
				}
			})
		}
		for range 200 {
			w := &pairs{open: map[registry.Scope]bool{}}
			leave, ok := registry.Observe(w)
			c.True(ok, "the slot is free")
			runtime.Gosched()
			leave()
			w.mu.Lock()
			c.True(!w.wrong, "an end without a beginning")
			w.mu.Unlock()
		}
		close(stop)
		group.Wait()
		synctest.Wait()
	})
})

// pairs checks that each end that it is told of had a beginning; not its own, if an earlier observer was told of that.
type pairs struct {
	mu    sync.Mutex
	open  map[registry.Scope]bool
	wrong bool
}

func (p *pairs) Opened(s, _ registry.Scope) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wrong = p.wrong || p.open[s]
	p.open[s] = true
}

func (p *pairs) Timer(any, bool) {}

func (p *pairs) Closed(s registry.Scope) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if was, known := p.open[s]; known {
		p.wrong = p.wrong || !was
		p.open[s] = false
	}
}
