package park_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/park"
)

// received is what WaitRecv returned.
type received struct {
	v            string
	ok, received bool
	o            park.Outcome
}

func recv(ctx context.Context, w *park.Waiter, t park.Token, c <-chan string) (r received) {
	r.v, r.ok, r.received, r.o = park.WaitRecv(ctx, w, t, park.KindUser, c)
	return r
}

// background is a context for endings' table that does not end.
func background(*testing.T) (context.Context, func()) { return context.Background(), nil }

// What ends the wait, while it is parked.
func TestBubbleRecv(t *testing.T) {
	type wait struct {
		w   *park.Waiter
		tok park.Token
		c   chan string
		end func()
	}
	events := []struct {
		name string
		do   func(x wait)
		want received
	}{
		{"value", func(x wait) { x.c <- "v" }, received{"v", true, true, park.Self}},
		{"closed", func(x wait) { close(x.c) }, received{"", false, true, park.Self}},
		{"woken", func(x wait) { x.w.Wake(x.tok, park.Woken) }, received{o: park.Woken}},
		{"user", func(x wait) { x.w.Wake(x.tok, park.MaxOutcome) }, received{o: park.MaxOutcome}},
		{"expired", func(wait) { time.Sleep(time.Minute) }, received{o: park.Expired}},
		{"canceled", func(x wait) { x.end() }, received{o: park.Canceled}},
	}
	contexts := append(slices.Clip(endings), struct {
		name string
		make func(*testing.T) (context.Context, func())
	}{"background", background})
	for _, x := range contexts {
		for _, e := range events {
			t.Run(x.name+"/"+e.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, end := x.make(t)
					if end == nil && e.name == "canceled" {
						return
					}
					w := park.New(nil)
					for _, buffer := range []int{0, 1} {
						c := make(chan string, buffer)
						tok := w.Arm(clock.After(time.Minute))
						got := make(chan received)
						go func() { got <- recv(ctx, w, tok, c) }()
						synctest.Wait()
						e.do(wait{w, tok, c, end})
						if r := <-got; r != e.want {
							t.Errorf("%+v, want %+v", r, e.want)
						}
						reusable(t, w)
						if e.name == "canceled" { // the next one is refused, or ends
							tok = w.Arm(clock.Forever)
							if r := recv(ctx, w, tok, nil); r != e.want {
								t.Errorf("again: %+v, want %+v", r, e.want)
							}
						}
					}
					w.Release()
				})
			})
		}
	}
}

// A nil channel is Wait.
func TestBubbleRecvNil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := park.New(nil)
		if r := recv(context.Background(), w, w.Arm(clock.After(time.Second)), nil); r != (received{o: park.Expired}) {
			t.Errorf("%+v", r)
		}
	})
}

// In the instant of a value another has ended the wait, and its wake-up is on the way: the value is returned, and so is
// the outcome. The wake-up is received: nothing of it comes to the next wait.
func TestBubbleRecvBoth(t *testing.T) {
	for _, o := range []park.Outcome{park.Woken, park.User, park.Expired, park.Canceled, park.Closed} {
		for _, closed := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				h, ctx := newFake(context.Background())
				w := park.New(nil)
				tok := w.Arm(clock.Forever)
				if !w.Resolve(tok, o) {
					t.Fatal("lost")
				}
				c, want := make(chan string, 1), received{"v", true, true, o}
				if closed {
					close(c)
					want.v, want.ok = "", false
				} else {
					c <- "v"
				}
				got := make(chan received, 1)
				go func() { got <- recv(ctx, w, tok, c) }()
				synctest.Wait()
				if len(got) != 0 {
					t.Errorf("returned %+v, and a wake-up is owed", <-got)
				}
				w.Unpark()
				if r := <-got; r != want {
					t.Errorf("%+v, want %+v", r, want)
				}
				h.called(t, "attach kind+64", "detach")
				reusable(t, w)
			})
		}
	}
}

// A grant that came before the context was canceled is kept, whoever is noticed first.
func TestBubbleRecvGrantedThenCanceled(t *testing.T) {
	for _, x := range endings {
		t.Run(x.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, end := x.make(t)
				w := park.New(nil)
				tok := w.Arm(clock.Forever)
				got := make(chan received, 1)
				go func() { got <- recv(ctx, w, tok, make(chan string)) }()
				synctest.Wait()
				w.Resolve(tok, park.User)
				end()
				synctest.Wait()
				if len(got) != 0 {
					t.Errorf("returned %+v, and a wake-up is owed", <-got)
				}
				w.Unpark()
				if r := <-got; r != (received{o: park.User}) {
					t.Errorf("%+v", r)
				}
				reusable(t, w)
			})
		})
	}
}

// Granted, and a value is there: one of the two, and the other is not lost.
func TestRecvEither(t *testing.T) {
	const rounds = 1000
	var fromChannel int
	for range rounds {
		c := make(chan string, 1)
		w := park.New(nil)
		tok := w.Arm(clock.Forever)
		c <- "v"
		w.Wake(tok, park.Woken)
		r := recv(context.Background(), w, tok, c)
		switch {
		case r == received{"v", true, true, park.Woken} && len(c) == 0: // both
			fromChannel++
		case r == received{o: park.Woken} && len(c) == 1:
		default:
			t.Fatalf("%+v, %d in the channel", r, len(c))
		}
		reusable(t, w)
	}
	if fromChannel == 0 || fromChannel == rounds {
		t.Errorf("%d of %d from the channel", fromChannel, rounds)
	}
}

// Under a canceled host nothing is received.
func TestRecvRefused(t *testing.T) {
	h, ctx := newFake(context.Background())
	h.refuse = true
	c := make(chan string, 1)
	c <- "v"
	w := park.New(nil)
	for range 100 {
		if r := recv(ctx, w, w.Arm(clock.Forever), c); r != (received{o: park.Canceled}) || len(c) != 1 {
			t.Fatalf("%+v, %d in the channel", r, len(c))
		}
	}
	tok := w.Arm(clock.Forever) // a grant that was faster
	w.Wake(tok, park.Woken)
	if r := recv(ctx, w, tok, c); r != (received{o: park.Woken}) || len(c) != 1 {
		t.Errorf("%+v, %d in the channel", r, len(c))
	}
	reusable(t, w)
}

// A host below a context of another kind gives its channel to watch, and is told when that is closed, before the owner
// goes on.
func TestRecvOuter(t *testing.T) {
	h, ctx := newFake(context.Background())
	h.outer = make(chan struct{})
	close(h.outer)
	w := park.New(nil)
	tok := w.Arm(clock.Forever)
	if r := recv(ctx, w, tok, make(chan string)); r != (received{o: park.Canceled}) {
		t.Errorf("%+v", r)
	}
	h.called(t, "attach kind+64", "check", "detach")
	reusable(t, w)

	h.calls = nil
	h.check = func() error { // carries the cancellation out, and finds it
		if h.cancel(1) != 1 {
			t.Error("not filed")
		}
		return errors.New("canceled")
	}
	if r := recv(ctx, w, w.Arm(clock.Forever), nil); r != (received{o: park.Canceled}) {
		t.Errorf("%+v", r)
	}
	h.called(t, "attach kind+64", "check", "detach")
	reusable(t, w)
}

// A context that panics takes nothing from the channel.
func TestRecvContextPanics(t *testing.T) {
	for _, in := range []string{"Value", "Done"} {
		c := make(chan string, 1)
		c <- "v"
		w := park.New(nil)
		tok := w.Arm(clock.Forever)
		b := &brittle{context.Background(), in, func() {}, false}
		if got := panics(func() { recv(b, w, tok, c) }); got != "brittle" || len(c) != 1 {
			t.Errorf("panic %q, %d in the channel", got, len(c))
		}
		if o := w.Withdraw(tok); o != park.Self {
			t.Errorf("%v", o)
		}
		reusable(t, w)
	}
}

// Its scope's deadline is a bound for it.
func TestBubbleRecvBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		err := bide.FailAfter(context.Background(), time.Second, func(ctx context.Context) error {
			w := park.Get()
			defer park.Put(w)
			_, _, got, o := park.WaitRecv(ctx, w, w.Arm(clock.Forever), park.KindQueue, make(chan int))
			if got || o != park.Canceled {
				t.Errorf("%v, %v", got, o)
			}
			return park.Reason(ctx)
		})
		var timeout *bide.TimeoutError
		if !errors.As(err, &timeout) {
			t.Error(err)
		}
	})
}
