package syncs

import (
	"context"
	"testing"

	"bide.invalid/bide/park"
)

// broken is a source that is not ready, and panics when somebody registers with it.
type broken struct{}

func (broken) look() park.Outcome { return park.Pending }
func (broken) remove(*park.Node)  {}
func (broken) add(*park.Node, *park.Waiter, park.Token, park.Outcome) park.Outcome {
	panic("broken")
}

// closed is one that is closed between the look and the registration.
type closed struct{ broken }

func (closed) add(*park.Node, *park.Waiter, park.Token, park.Outcome) park.Outcome {
	return park.Closed
}

// late is one that becomes ready between the look and the registration.
type late struct{ broken }

func (late) add(_ *park.Node, _ *park.Waiter, _ park.Token, o park.Outcome) park.Outcome { return o }

// What a call meets while it registers: those that it has registered with are left as they were.
func TestRegistrationEnds(t *testing.T) {
	bg := context.Background()
	var e, f Event
	panics := func(call func() error) (err error, text any) {
		defer func() { text = recover() }()
		return call(), nil
	}
	one := func(s Waitable) func() error {
		return func() error {
			i, err := WaitAny(bg, &e, &f, s, &f)
			if (err == nil) != (i == 2) || err != nil && i != -1 {
				t.Errorf("WaitAny = %d, %v", i, err)
			}
			return err
		}
	}
	all := func(s Waitable) func() error {
		return func() error { return WaitAll(bg, &e, &f, s, &f) }
	}
	for name, c := range map[string]struct {
		call func() error
		err  error
		text any
	}{
		"WaitAny, a panic":              {one(broken{}), nil, "broken"},
		"WaitAll, a panic":              {all(broken{}), nil, "broken"},
		"WaitAny, closed":               {one(closed{}), ErrClosed, nil},
		"WaitAll, closed":               {all(closed{}), ErrClosed, nil},
		"WaitAny, ready":                {one(late{}), nil, nil},
		"WaitAll, of one that is ready": {func() error { return WaitAll(bg, late{}) }, nil, nil},
	} {
		if err, text := panics(c.call); err != c.err || text != c.text {
			t.Errorf("%s: %v, panic %v", name, err, text)
		}
		if e.Queued() || f.Queued() {
			t.Errorf("%s: somebody is left in a queue", name)
		}
	}
}

type background = context.Context

// hostile is a context that files who waits under it, and then panics, or cancels.
type hostile struct {
	background
	panics bool
	filed  *park.Waiter
}

func (h *hostile) Value(k any) any {
	if k == (park.Key{}) {
		return h
	}
	return nil
}

func (h *hostile) Context() context.Context { return h }
func (h *hostile) Detach(*park.Waiter)      {}

func (h *hostile) Attach(w *park.Waiter, _ park.Kind) (outer <-chan struct{}, ok bool) {
	h.filed = w
	over := make(chan struct{})
	close(over)
	return over, true
}

func (h *hostile) Check() error {
	if h.panics {
		panic("hostile")
	}
	return context.Canceled
}

// A waiter that a panic has passed by may still be filed in its context: it is nobody else's any more.
func TestWaiterOfAPanicIsDropped(t *testing.T) {
	for name, wait := range map[string]func(ctx context.Context) error{
		"WaitAll":   func(ctx context.Context) error { return WaitAll(ctx, new(Event), new(Event)) },
		"WaitAny":   func(ctx context.Context) error { _, err := WaitAny(ctx, new(Event), new(Event)); return err },
		"Event":     new(Event).Wait,
		"AutoEvent": new(AutoEvent).Wait,
		"Barrier":   func(ctx context.Context) error { _, err := NewBarrier(2).Wait(ctx); return err },
		"Sequencer": func(ctx context.Context) error { return new(Sequencer).Wait(ctx, 1) },
	} {
		dropped := map[*park.Waiter]bool{}
		for range 20 {
			bad := &hostile{context.Background(), true, nil}
			func() {
				defer func() {
					if v := recover(); v != "hostile" {
						t.Errorf("%s: panic %v", name, v)
					}
				}()
				_ = wait(bad)
			}()
			dropped[bad.filed] = true
			good := &hostile{context.Background(), false, nil}
			if err := wait(good); err != context.Canceled {
				t.Errorf("%s: %v", name, err)
			}
			if dropped[good.filed] {
				t.Fatalf("%s: the waiter is used again", name)
			}
		}
	}
}
