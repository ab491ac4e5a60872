package bide_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/syncs"
	"bide.invalid/bide/timer"
)

// A limb is a scope, or a context of another kind, of a tree that several goroutines are at. What has happened to it is
// noted: "may" before it is done, "must" after it.
type limb struct {
	parent *limb
	std    context.CancelFunc // of a context.WithCancel
	ctx    context.Context
	s      *bide.Scope
	mu     sync.Mutex
	may    [bide.ByAbandoned + 1]bool // by source
	must   bool
	due    clock.Instant // its owner's
}

func (l *limb) note(source bide.Source, must bool) {
	l.mu.Lock()
	l.may[source] = true
	l.must = l.must || must
	l.mu.Unlock()
}

// told says what may have canceled l, and whether something must have, when the clock stands at now and nobody is at it.
func (l *limb) told(now clock.Instant) (may [bide.ByAbandoned + 1]bool, must bool) {
	for ; l != nil; l = l.parent {
		for source, m := range l.may {
			may[source] = may[source] || m
		}
		may[bide.ByDeadline] = may[bide.ByDeadline] || l.due <= now
		must = must || l.must || l.due <= now
	}
	return may, must
}

// Trees that several goroutines cancel, stop, bound anew, wait under and look at, all at once. What is determined in the
// end is compared: who is canceled and who is live, by what it may have been, whose waits have come back, and that
// nothing is left in the timer service.
func TestStormInParallel(t *testing.T) {
	until, seed := stressed(t)
	v := clock.NewVirtual()
	service := timer.For(v)
	round := uint64(0)
	live := 0
	for ; time.Now().Before(until); round++ {
		r := rand.New(rand.NewPCG(seed, round))
		root := bide.Open(context.Background(), bide.Clock(v))
		all := []*limb{{ctx: root, s: root, due: clock.Forever}}
		for range 2 + r.IntN(12) {
			l := &limb{parent: all[r.IntN(len(all))], due: clock.Forever}
			ctx := l.parent.ctx
			switch r.IntN(6) {
			case 0:
				l.ctx, l.std = context.WithCancel(ctx)
			case 1:
				ctx = context.WithValue(ctx, valueKey{}, 1)
				fallthrough
			default:
				l.s = bide.Open(ctx)
				l.ctx = l.s
			}
			all = append(all, l)
		}
		var never syncs.Event
		var group, waits sync.WaitGroup
		var mu sync.Mutex
		open := map[*limb]int{} // waits, and functions to be called, that have not come back
		start := func(l *limb, f func() error) {
			mu.Lock()
			open[l]++
			mu.Unlock()
			waits.Go(func() {
				if err := f(); err == nil {
					t.Error("woken by nobody")
				}
				mu.Lock()
				open[l]--
				mu.Unlock()
			})
		}
		quiet := r.IntN(2) * 20 // half of the trees see little violence
		for g := range 4 {
			group.Go(func() {
				r := rand.New(rand.NewPCG(seed+uint64(g)+1, round))
				for range 10 {
					i := r.IntN(len(all))
					l := all[i]
					what := r.IntN(14 + quiet)
					if l.s == nil && what != 3 {
						continue
					}
					switch what {
					case 0:
						l.note(bide.ByCancel, false)
						child, stop := context.WithCancel(l.s)
						l.s.Cancel(errStop)
						l.note(bide.ByCancel, true)
						if l.s.Err() == nil || child.Err() == nil {
							t.Error("live after Cancel")
						}
						stop()
					case 1:
						l.note(bide.ByShutdown, false)
						l.s.Stop(0, errStop)
						l.note(bide.ByShutdown, true)
					case 2:
						l.note(bide.ByShutdown, false)
						l.s.Stop(time.Duration(1+r.IntN(10)), errStop)
					case 3:
						if l.std != nil {
							l.note(bide.ByContext, false)
							l.std()
							l.note(bide.ByContext, true)
						}
					case 4, 5, 6: // by its owner only, so that he knows which one counts
						if i%4 != g {
							continue
						}
						due := v.Now().Add(time.Duration(r.IntN(30)) - 2)
						l.note(bide.ByDeadline, false)
						if at, _ := v.Time(due); l.s.SetDeadline(at) {
							l.due = due
						} else if l.s.Err() == nil {
							t.Error("SetDeadline refused by a live scope")
						}
					case 7:
						v.Advance(time.Duration(r.IntN(4)))
					case 8, 9, 10, 11:
						start(l, func() error { return never.Wait(l.ctx) })
					case 12:
						start(l, func() error { <-l.ctx.Done(); return errStop })
					case 13:
						c := make(chan struct{})
						l.s.AfterFunc(func() { close(c) })
						start(l, func() error { <-c; return errStop })
					default:
						_ = l.s.Check()
						runtime.Gosched()
					}
				}
			})
		}
		group.Wait()
		for i, l := range all {
			if l.s == nil {
				continue
			}
			may, must := l.told(v.Now())
			if must {
				<-l.s.Done() // below a context of another kind it is told a moment later
			}
			e, dead := l.s.Cause().(*bide.Canceled)
			switch {
			case must && !dead:
				t.Errorf("%d: is live", i)
			case dead && !may[e.Source]:
				t.Errorf("%d: %v, which has not happened", i, e)
			case !dead:
				live++
			}
		}
		root.Cancel(errStop)
		for _, l := range all {
			if l.std != nil {
				l.std()
			}
		}
		waits.Wait()
		for _, l := range all {
			if l.s == nil {
				continue
			}
			<-l.s.Done() // everybody is told
			group.Go(func() { l.s.Close(nil) })
		}
		group.Wait()
		if n := service.Stats().Pending; n != 0 {
			t.Errorf("%d deadlines pending", n)
		}
		if t.Failed() {
			t.Fatalf("in round %d", round)
		}
	}
	t.Logf("%d trees, %d scopes live to the end", round, live)
}

// Nurseries into which several goroutines start children that fail, panic, start others or are canceled. Each function
// has run once, and ended before WithNursery does; each failure is in the result, and a panic is the result.
func TestStormOfNurseries(t *testing.T) {
	until, seed := stressed(t)
	round := uint64(0)
	for ; time.Now().Before(until); round++ {
		r := rand.New(rand.NewPCG(seed, round))
		var opts []bide.Option
		limited := r.IntN(3) == 0
		if limited {
			opts = append(opts, bide.Limit(1+r.IntN(3)))
		}
		if r.IntN(2) == 0 {
			opts = append(opts, bide.Supervise())
		}
		var started, ended, failed, panics atomic.Int64
		err := func() (err error) {
			defer func() {
				if v := recover(); v != nil {
					if _, ok := v.(*bide.PanicError); !ok {
						t.Errorf("panic %v", v)
					}
					if panics.Load() == 0 {
						t.Error("a panic that nobody has begun")
					}
					err = boom
				}
			}()
			return bide.WithNursery(context.Background(), func(ctx context.Context, n *bide.Nursery) error {
				var spawn func(seed uint64, depth int)
				child := func(seed uint64, depth int) func(context.Context) error {
					return func(ctx context.Context) error {
						defer ended.Add(1)
						r := rand.New(rand.NewPCG(seed, round))
						switch r.IntN(12) {
						case 0:
							failed.Add(1)
							return failure
						case 1:
							panics.Add(1)
							panic(boom)
						case 2:
							n.Cancel(nil)
						case 3:
							n.Scope().SetTimeout(time.Duration(r.IntN(1000)))
						case 4, 5:
							if !limited && depth < 4 { // under a limit all could wait for each other
								spawn(r.Uint64(), depth+1)
							}
						case 6:
							return bide.FailAfter(ctx, time.Duration(r.IntN(2000)), blk)
						case 7:
							_ = bide.Shield(ctx, time.Duration(r.IntN(2000)), blk)
						}
						return bide.Check(ctx)
					}
				}
				spawn = func(seed uint64, depth int) {
					r := rand.New(rand.NewPCG(seed, round))
					for range r.IntN(4) {
						var opts []bide.Option
						if r.IntN(2) == 0 {
							opts = append(opts, bide.Name("child"))
						}
						f := child(r.Uint64(), depth)
						switch r.IntN(6) {
						case 0:
							if n.TryGo(f, opts...) {
								started.Add(1)
							}
						case 1:
							started.Add(1)
							n.Service(f, opts...)
						default:
							started.Add(1)
							n.Go(f, opts...)
						}
					}
				}
				var group sync.WaitGroup
				for range 3 {
					seed := r.Uint64()
					group.Go(func() { spawn(seed, 0) })
				}
				group.Wait()
				return nil
			}, append(opts, bide.Repanic())...)
		}()
		if started.Load() != ended.Load() {
			t.Errorf("%d started, %d ended", started.Load(), ended.Load())
		}
		if (err == error(boom)) != (panics.Load() > 0) {
			t.Errorf("%d panics: %v", panics.Load(), err)
		}
		failures := int64(0)
		for _, text := range flatten(err) {
			if text == failure.Error() {
				failures++
			}
		}
		if err != error(boom) && failures != failed.Load() || errors.Is(err, boom) && panics.Load() == 0 {
			t.Errorf("%d failures are in the result, of %d: %v", failures, failed.Load(), err)
		}
		if t.Failed() {
			t.Fatalf("in round %d", round)
		}
	}
	t.Logf("%d nurseries", round)
}
