package bide_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/bidetest"
	"bide.invalid/bide/clock"
)

// What other people's code makes of a scope. Conformance item 74 has the children of a plain scope; here are the other
// kinds of scopes, and the other functions of package context.

// goroutinesWith counts the goroutines whose tracebacks have text in them. (runtime.NumGoroutine may be off by hundreds when
// as many have just ended.)
func goroutinesWith(text string) (n int) {
	buf := make([]byte, 1<<20)
	size := runtime.Stack(buf, true)
	for size == len(buf) {
		buf = make([]byte, 2*len(buf))
		size = runtime.Stack(buf, true)
	}
	for g := range strings.SplitSeq(string(buf[:size]), "\n\n") {
		if strings.Contains(g, text) {
			n++
		}
	}
	return n
}

// watching is in the traceback of a goroutine that package context has started to watch a context it does not know.
const watching = "created by context.(*cancelCtx).propagateCancel"

// stranger is a context that package context does not know.
type stranger struct{ context.Context }

func (s stranger) Done() <-chan struct{} { done := make(chan struct{}); return done }

// A kindOfScope is a way to get a context that is a scope, or lies below one, and to end it.
type kindOfScope struct {
	name string
	in   func(ctx context.Context, f func(ctx context.Context, end func()))
	want error
}

var kindsOfScopes = []kindOfScope{
	{"Run, canceled", func(ctx context.Context, f func(context.Context, func())) {
		bide.Run(ctx, func(s *bide.Scope) error { f(s, func() { s.Cancel(failure) }); return nil })
	}, context.Canceled},
	{"Run, canceled from above", func(ctx context.Context, f func(context.Context, func())) {
		bide.Run(ctx, func(above *bide.Scope) error {
			return bide.FailAfter(above, time.Hour, func(ctx context.Context) error { f(ctx, func() { above.Cancel(failure) }); return nil })
		})
	}, context.Canceled},
	{"FailAfter, late", func(ctx context.Context, f func(context.Context, func())) {
		discard(bide.FailAfter(ctx, time.Minute, func(ctx context.Context) error { f(ctx, nil); return nil }))
	}, context.DeadlineExceeded},
	{"Shield, its grace is over", func(ctx context.Context, f func(context.Context, func())) {
		discard(bide.Shield(ctx, time.Minute, func(ctx context.Context) error { f(ctx, nil); return nil }))
	}, context.DeadlineExceeded},
	{"Idle, no progress", func(ctx context.Context, f func(context.Context, func())) {
		discard(bide.Run(ctx, func(s *bide.Scope) error { f(s, nil); return nil }, bide.Idle(time.Minute)))
	}, context.DeadlineExceeded},
	{"a nursery, a child fails", func(ctx context.Context, f func(context.Context, func())) {
		discard(bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
			f(ctx, func() {
				n.Go(func(context.Context) error { return failure })
				_ = bide.Sleep(ctx, time.Hour)
			})
			return nil
		}))
	}, context.Canceled},
	{"a nursery's child with a scope of its own", func(ctx context.Context, f func(context.Context, func())) {
		discard(bide.WithNursery(ctx, func(_ context.Context, n *bide.Nursery) error {
			n.Go(func(ctx context.Context) error { f(ctx, func() { n.Cancel(failure) }); return nil }, bide.Name("child"))
			return nil
		}))
	}, context.Canceled},
	{"a stop, at the hard end, in a shield", func(ctx context.Context, f func(context.Context, func())) {
		discard(bide.Run(ctx, func(s *bide.Scope) error {
			s.Stop(time.Minute, failure)
			return bide.Shield(s, time.Hour, func(ctx context.Context) error { f(ctx, nil); return nil })
		}))
	}, context.Canceled},
	{"below a value", func(ctx context.Context, f func(context.Context, func())) {
		bide.Run(ctx, func(s *bide.Scope) error {
			f(context.WithValue(s, valueKey{}, 0), func() { s.Cancel(failure) })
			return nil
		})
	}, context.Canceled},
}

// children makes n contexts of ctx and n below a value each, of each kind in turn.
func children(t *testing.T, ctx context.Context, n int) (kids []context.Context) {
	for i := range 2 * n {
		parent := ctx
		if i%2 == 1 {
			parent = context.WithValue(ctx, valueKey{}, i)
		}
		var kid context.Context
		var cancel func()
		switch i / 2 % 4 {
		case 0:
			kid, cancel = context.WithCancel(parent)
		case 1:
			kid, cancel = context.WithTimeout(parent, 1e6*time.Hour)
		case 2:
			c, stop := context.WithCancelCause(parent)
			kid, cancel = c, func() { stop(nil) }
		case 3:
			kid, cancel = context.WithDeadlineCause(parent, time.Now().Add(1e6*time.Hour), failure)
		}
		t.Cleanup(cancel)
		kids = append(kids, kid)
	}
	return kids
}

// 1000 standard contexts right below a scope and 1000 below values of it, of whatever kind it is, cost no goroutine; when
// the call that ends it has returned all are canceled, with the scope's own cause.
func TestInteropThousandChildren(t *testing.T) {
	const n = 1000
	for _, kind := range kindsOfScopes {
		t.Run(kind.name, func(t *testing.T) {
			bidetest.Bubble(t, func(t *testing.T, _ context.Context) {
				ctx, vc := bidetest.Virtual(t)
				kind.in(ctx, func(ctx context.Context, end func()) {
					kids := children(t, ctx, n)
					bidetest.Settle(t)
					if g := goroutinesWith(watching); g != 0 {
						t.Errorf("%d goroutines watch", g)
					}
					if end == nil {
						end = func() { vc.Advance(time.Minute) }
					}
					end()
					var canceled *bide.Canceled
					cause := context.Cause(ctx)
					if !errors.As(cause, &canceled) {
						t.Errorf("the cause of the scope is %v (%T)", cause, cause)
					}
					for i, kid := range kids {
						if err, why := kid.Err(), context.Cause(kid); err != kind.want || why != cause {
							t.Errorf("child %d of %d: %v, because %v; want %v, because %v", i, len(kids), err, why, kind.want, cause)
							return
						}
						select {
						case <-kid.Done():
						default:
							t.Errorf("child %d of %d: Done is open", i, len(kids))
							return
						}
					}
				})
			})
		})
	}
}

// The count of goroutines can fail: below a context that package context does not know each child costs one.
func TestInteropStrangersAreWatched(t *testing.T) {
	before := goroutinesWith(watching)
	var cancels []func()
	for range 10 {
		_, cancel := context.WithCancel(stranger{context.Background()})
		cancels = append(cancels, cancel)
	}
	if n := goroutinesWith(watching) - before; n != 10 {
		t.Errorf("%d goroutines watch for 10 children", n)
	}
	for _, cancel := range cancels {
		cancel()
	}
	for goroutinesWith(watching) > before {
		runtime.Gosched()
	}
}

// Functions of context.AfterFunc are called once when the scope ends, and cost nobody a goroutine before; those that were
// taken back are not called.
func TestInteropAfterFunc(t *testing.T) {
	const n = 1000
	for _, kind := range kindsOfScopes {
		t.Run(kind.name, func(t *testing.T) {
			bidetest.Bubble(t, func(t *testing.T, _ context.Context) {
				ctx, vc := bidetest.Virtual(t)
				kind.in(ctx, func(ctx context.Context, end func()) {
					var calls [2 * n]atomic.Int32
					var stops []func() bool
					before := goroutinesWith("")
					for i := range calls {
						parent := ctx
						if i%2 == 1 {
							parent = context.WithValue(ctx, valueKey{}, i)
						}
						stops = append(stops, context.AfterFunc(parent, func() { calls[i].Add(1) }))
					}
					bidetest.Settle(t)
					// Others of the process may end meanwhile, or one be at work: not hundreds.
					if g := goroutinesWith("") - before; g > n/100 {
						t.Errorf("%d goroutines for %d functions", g, 2*n)
					}
					for i := range n / 2 {
						if !stops[i]() {
							t.Errorf("%d was not taken back", i)
						}
					}
					if end == nil {
						end = func() { vc.Advance(time.Minute) }
					}
					end()
					bidetest.Settle(t)
					for i := range calls {
						want := int32(1)
						if i < n/2 {
							want = 0
						}
						if got := calls[i].Load(); got != want || stops[i]() {
							t.Errorf("function %d was called %d times, want %d; or could be taken back", i, got, want)
							return
						}
					}
				})
			})
		})
	}
}

// context.WithoutCancel keeps the values of a scope and nothing else, whatever becomes of the scope.
func TestInteropWithoutCancel(t *testing.T) {
	for _, kind := range kindsOfScopes {
		bidetest.Bubble(t, func(t *testing.T, _ context.Context) {
			ctx, vc := bidetest.Virtual(t)
			kind.in(context.WithValue(ctx, valueKey{}, "kept"), func(ctx context.Context, end func()) {
				detached := context.WithoutCancel(ctx)
				kid, cancel := context.WithCancelCause(detached)
				if end == nil {
					end = func() { vc.Advance(time.Minute) }
				}
				end()
				if kind.name != "below a value" && detached.Value(valueKey{}) != "kept" {
					t.Errorf("%s: the value is lost", kind.name)
				}
				if _, ok := detached.Deadline(); ok || detached.Done() != nil || detached.Err() != nil || context.Cause(detached) != nil {
					t.Errorf("%s: a context without cancel is canceled, or has a deadline", kind.name)
				}
				if kid.Err() != nil || context.Cause(kid) != nil {
					t.Errorf("%s: its child is canceled: %v", kind.name, context.Cause(kid))
				}
				// A bound below is a bound of its own, and knows nothing of the scope that was left behind.
				err := bide.FailAfter(detached, time.Hour, bide.Check)
				if err != nil {
					t.Errorf("%s: a scope below: %v", kind.name, err)
				}
				cancel(failure)
				if context.Cause(kid) != failure {
					t.Errorf("%s: %v", kind.name, context.Cause(kid))
				}
			})
		})
	}
}

// Scope, standard context, scope, standard context: when Cancel returns the upper two are canceled, and the lower scope
// says so when it is asked. Package context tells what is below that a moment later.
func TestInteropSandwich(t *testing.T) {
	bidetest.Bubble(t, func(t *testing.T, ctx context.Context) {
		for i, upper := range []func(context.Context) (context.Context, context.CancelFunc){
			context.WithCancel,
			func(ctx context.Context) (context.Context, context.CancelFunc) {
				return context.WithTimeout(ctx, time.Hour)
			},
			func(ctx context.Context) (context.Context, context.CancelFunc) {
				return context.WithCancel(context.WithValue(ctx, valueKey{}, 1))
			},
		} {
			err := bide.Run(ctx, func(s *bide.Scope) error {
				std, cancel := upper(s)
				defer cancel()
				return bide.FailAfter(std, time.Minute, func(ctx context.Context) error {
					kid, cancel := context.WithCancel(ctx)
					defer cancel()
					s.Cancel(failure)
					cause := s.Cause()
					for what, got := range map[string]error{
						"the standard context": context.Cause(std), "the lower scope": bide.Check(ctx),
					} {
						if got != cause {
							t.Errorf("%d: %s: %v at once, want %v", i, what, got, cause)
						}
					}
					<-kid.Done()
					<-ctx.Done()
					if got := context.Cause(kid); got != cause || kid.Err() != context.Canceled {
						t.Errorf("%d: the lower standard context: %v, because %v; want %v", i, kid.Err(), got, cause)
					}
					return bide.Check(ctx)
				})
			}, bide.Name("top"))
			if err != nil {
				t.Errorf("%d: %v", i, err)
			}
		}
	})
}

// A bound of package context inside of a scope is whose it is: the scope does not claim it, and is as it was.
func TestInteropInnerStandardBound(t *testing.T) {
	bidetest.Bubble(t, func(t *testing.T, ctx context.Context) {
		errSlow := fmt.Errorf("the mirror is slow")
		err := bide.FailAfter(ctx, time.Hour, func(ctx context.Context) error {
			std, cancel := context.WithTimeoutCause(ctx, time.Minute, errSlow)
			defer cancel()
			began := clock.Now()
			err := bide.Sleep(std, 2*time.Hour)
			if d := clock.Now().Sub(began); d != time.Minute {
				t.Errorf("it took %v", d)
			}
			if bide.Check(ctx) != nil || context.Cause(std) != errSlow {
				t.Errorf("the scope: %v; the cause: %v", bide.Check(ctx), context.Cause(std))
			}
			return err
		})
		var late *bide.TimeoutError
		if err != context.DeadlineExceeded || errors.As(err, &late) {
			t.Errorf("%v (%T)", err, err)
		}
	})
}
