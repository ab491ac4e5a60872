package syncs_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/syncs"
)

// panics reports what f panicked with, as a text; "" if it did not.
func panics(f func()) (text string) {
	defer func() {
		if r := recover(); r != nil {
			text = fmt.Sprint(r)
		}
	}()
	f()
	return ""
}

// A call is one blocking call of the package, on an object that makes it wait.
type call struct {
	wait  func(ctx context.Context) error
	grant func()      // ends one wait, or what comes next does not wait
	give  func()      // gives back what a wait that returned nil has taken
	clean func() bool // whether nothing is queued anywhere
}

// calls are all of them that take a context.
var calls = []struct {
	name string
	make func() call
}{
	{"Mutex.Lock", func() call {
		m := new(syncs.Mutex)
		m.TryLock()
		return call{m.Lock, m.Unlock, m.Unlock, func() bool { return !m.Queued() }}
	}},
	{"Event.Wait", func() call {
		e := new(syncs.Event)
		return call{e.Wait, e.Set, func() {}, func() bool { return !e.Queued() }}
	}},
	{"Future.Wait", func() call {
		f := new(syncs.Future[string])
		wait := func(ctx context.Context) error {
			v, err := f.Wait(ctx)
			if (err == nil) != (v == "value") {
				panic(fmt.Sprintf("Wait = %q, %v", v, err))
			}
			return err
		}
		return call{wait, func() { f.Set("value") }, func() {}, func() bool { return !f.Queued() }}
	}},
	{"WaitAny", func() call {
		e, f, g := new(syncs.Event), new(syncs.Future[int]), new(syncs.Event)
		wait := func(ctx context.Context) error {
			i, err := syncs.WaitAny(ctx, e, f, g)
			if err == nil && i != 1 || err != nil && i != -1 {
				panic(fmt.Sprintf("WaitAny = %d, %v", i, err))
			}
			return err
		}
		return call{wait, func() { f.Set(1) }, func() {}, func() bool { return !e.Queued() && !f.Queued() && !g.Queued() }}
	}},
}

type key struct{}

var errBecause = errors.New("because")

// contexts are kinds of context, what cancels one, and what a call under it then returns.
var contexts = []struct {
	name string
	make func(t *testing.T) (ctx context.Context, cancel func())
	want func(error) bool
}{
	{"std", func(*testing.T) (context.Context, func()) {
		return context.WithCancel(context.Background())
	}, is(context.Canceled)},
	{"std with a cause that does not match", func(*testing.T) (context.Context, func()) {
		ctx, cancel := context.WithCancelCause(context.Background())
		return ctx, func() { cancel(errBecause) }
	}, is(context.Canceled)},
	{"std with a cause that matches", func(*testing.T) (context.Context, func()) {
		ctx, cancel := context.WithCancelCause(context.Background())
		return ctx, func() { cancel(errMatches) }
	}, is(errMatches)},
	{"scope", func(t *testing.T) (context.Context, func()) {
		s := open(t, context.Background())
		return s, func() { s.Cancel(errBecause) }
	}, by(bide.ByCancel)},
	{"value below a scope", func(t *testing.T) (context.Context, func()) {
		s := open(t, context.Background())
		return context.WithValue(s, key{}, 1), func() { s.Cancel(errBecause) }
	}, by(bide.ByCancel)},
	{"std below a scope", func(t *testing.T) (context.Context, func()) {
		s := open(t, context.Background())
		ctx, cancel := context.WithCancel(s)
		t.Cleanup(cancel)
		return ctx, func() { s.Cancel(errBecause) }
	}, by(bide.ByCancel)},
	{"scope right below std", func(t *testing.T) (context.Context, func()) {
		ctx, cancel := context.WithCancelCause(context.Background())
		return open(t, ctx), func() { cancel(errBecause) }
	}, by(bide.ByContext)},
}

// A matching cause is one that is context.Canceled as well.
var errMatches = fmt.Errorf("stopped by hand: %w", context.Canceled)

func is(want error) func(error) bool { return func(err error) bool { return err == want } }

// by accepts the scope's own *Canceled, unwrapped, with the source and the reason.
func by(source bide.Source) func(error) bool {
	return func(err error) bool {
		c, ok := err.(*bide.Canceled)
		return ok && c.Source == source && errors.Is(err, errBecause) && errors.Is(err, context.Canceled)
	}
}

// open opens a scope for the length of the test.
func open(t testing.TB, ctx context.Context, opts ...bide.Option) *bide.Scope {
	s := bide.Open(ctx, opts...)
	t.Cleanup(func() { s.Close(nil) })
	return s
}

// eachCall runs f for every call under every kind of context.
func eachCall(t *testing.T, f func(t *testing.T, c call, ctx context.Context, cancel func(), want func(error) bool)) {
	for _, c := range calls {
		for _, x := range contexts {
			t.Run(c.name+"/"+x.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := x.make(t)
					defer cancel()
					c := c.make()
					f(t, c, ctx, cancel, x.want)
					if !c.clean() {
						t.Error("somebody is left in a queue")
					}
				})
			})
		}
	}
}

// Check before act: under a canceled context a call does nothing, however free the thing is.
func TestCanceledBefore(t *testing.T) {
	eachCall(t, func(t *testing.T, c call, ctx context.Context, cancel func(), want func(error) bool) {
		cancel()
		if err := c.wait(ctx); !want(err) {
			t.Errorf("with nothing to take: %v", err)
		}
		c.grant()
		for range 2 { // it is a state, not an event
			if err := c.wait(ctx); !want(err) {
				t.Errorf("with something to take: %v", err)
			}
		}
		if err := c.wait(context.Background()); err != nil {
			t.Errorf("the canceled calls have taken something: %v", err)
		}
		c.give()
	})
}

func TestCanceledDuring(t *testing.T) {
	eachCall(t, func(t *testing.T, c call, ctx context.Context, cancel func(), want func(error) bool) {
		got := make(chan error, 1)
		go func() { got <- c.wait(ctx) }()
		synctest.Wait()
		if len(got) != 0 || c.clean() {
			t.Fatalf("does not wait: %v", <-got)
		}
		cancel()
		if err := <-got; !want(err) {
			t.Errorf("error %v (%T)", err, err)
		}
		if !c.clean() {
			t.Error("the canceled call is left in a queue")
		}
		c.grant()
		if err := c.wait(context.Background()); err != nil {
			t.Error(err)
		}
		c.give()
	})
}

func TestGranted(t *testing.T) {
	eachCall(t, func(t *testing.T, c call, ctx context.Context, cancel func(), _ func(error) bool) {
		got := make(chan error, 1)
		go func() { got <- c.wait(ctx) }()
		synctest.Wait()
		c.grant()
		if err := <-got; err != nil {
			t.Errorf("error %v", err)
		}
		c.give()
		if err := c.wait(ctx); err != nil {
			t.Errorf("once more, without waiting: %v", err)
		}
		c.give()
		cancel()
		if err := c.wait(ctx); err == nil {
			t.Error("nil after the cancellation")
		}
	})
}

// Granted first, then canceled, before the goroutine has run: the grant is not thrown away, or it is passed on.
func TestGrantedThenCanceled(t *testing.T) {
	eachCall(t, func(t *testing.T, c call, ctx context.Context, cancel func(), want func(error) bool) {
		got := make(chan error, 1)
		go func() { got <- c.wait(ctx) }()
		synctest.Wait()
		c.grant()
		cancel()
		switch err := <-got; {
		case err == nil:
			c.give()
		case !want(err):
			t.Errorf("error %v", err)
		}
		if err := c.wait(context.Background()); err != nil {
			t.Errorf("the grant is gone: %v", err)
		}
		c.give()
	})
}

// A scope's deadline, one further up, and a std one: each ends the call at its instant.
func TestBubbleDeadlines(t *testing.T) {
	bounds := map[string]func(f func(context.Context) error) error{
		"FailAfter": func(f func(context.Context) error) error {
			return bide.FailAfter(context.Background(), time.Second, f)
		},
		"FailAfter below FailAfter": func(f func(context.Context) error) error {
			return bide.FailAfter(context.Background(), time.Second, func(ctx context.Context) error {
				return bide.FailAfter(ctx, time.Hour, f)
			})
		},
		"WithTimeout": func(f func(context.Context) error) error {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			return f(ctx)
		},
		"FailAfter below WithTimeout": func(f func(context.Context) error) error {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			return bide.FailAfter(ctx, time.Hour, f)
		},
	}
	for _, c := range calls {
		for name, bound := range bounds {
			t.Run(c.name+"/"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := c.make()
					start := time.Now()
					err := bound(func(ctx context.Context) error {
						err := c.wait(ctx)
						if !errors.Is(err, context.DeadlineExceeded) {
							t.Errorf("the call's error is %v", err)
						}
						return err
					})
					if !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("error %v", err)
					}
					if d := time.Since(start); d != time.Second {
						t.Errorf("took %v", d)
					}
					if !c.clean() {
						t.Error("somebody is left in a queue")
					}
				})
			})
		}
	}
}

// under calls f under a context of a random kind, bounded and canceled at random moments, most of them near.
func under(r *rand.Rand, f func(ctx context.Context) error) error {
	bg := context.Background()
	short := time.Duration(r.IntN(2000)) * time.Microsecond
	soon := func(cancel func()) *time.Timer {
		return time.AfterFunc(time.Duration(r.IntN(300))*time.Microsecond, cancel)
	}
	switch r.IntN(8) {
	case 0:
		return f(bg)
	case 1:
		return bide.FailAfter(bg, short, f)
	case 2:
		return bide.FailAfter(bg, short, func(ctx context.Context) error {
			return f(context.WithValue(ctx, key{}, 1))
		})
	case 3:
		ctx, cancel := context.WithTimeout(bg, short)
		defer cancel()
		return f(ctx)
	case 4:
		ctx, cancel := context.WithCancel(bg)
		defer soon(cancel).Stop()
		return bide.FailAfter(ctx, time.Hour, f)
	case 5:
		return bide.Run(bg, func(s *bide.Scope) error {
			defer soon(func() { s.Cancel(nil) }).Stop()
			return errIfCanceled(s, f)
		})
	case 6:
		return bide.FailAfter(bg, time.Hour, func(ctx context.Context) error {
			return bide.FailAfter(ctx, short, f)
		})
	default:
		ctx, cancel := context.WithCancelCause(bg)
		defer soon(func() { cancel(errMatches) }).Stop()
		return f(ctx)
	}
}

var errCanceled = errors.New("canceled by its scope")

// errIfCanceled keeps the scope from dropping its own cancellation, so that an error stays one.
func errIfCanceled(ctx context.Context, f func(context.Context) error) error {
	var c *bide.Canceled
	if err := f(ctx); errors.As(err, &c) {
		return errCanceled
	} else {
		return err
	}
}
