package park_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/park"
)

// A fakeHost is a context's side as park.Host asks for it, and no more.
type fakeHost struct {
	ctx    context.Context // whom it speaks for
	outer  chan struct{}
	refuse bool

	mu      sync.Mutex
	check   func() error // what Check does and returns
	waiters park.Waiters
	calls   []string
}

// hostCtx is the context of a fakeHost.
type hostCtx struct {
	context.Context
	h *fakeHost
}

func (c *hostCtx) Value(k any) any {
	if k == (park.Key{}) {
		return c.h
	}
	return c.Context.Value(k)
}

func newFake(below context.Context) (*fakeHost, context.Context) {
	h := &fakeHost{check: func() error { return nil }}
	ctx := &hostCtx{below, h}
	h.ctx = ctx
	return h, ctx
}

func (h *fakeHost) Context() context.Context { return h.ctx }

func (h *fakeHost) Check() error {
	h.mu.Lock()
	h.calls = append(h.calls, "check")
	h.mu.Unlock()
	return h.check()
}

func (h *fakeHost) Attach(w *park.Waiter, k park.Kind) (<-chan struct{}, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls = append(h.calls, "attach "+k.String())
	if h.refuse {
		return nil, false
	}
	h.waiters.Add(w, k)
	return h.outer, true
}

func (h *fakeHost) Detach(w *park.Waiter) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls = append(h.calls, "detach")
	h.waiters.Remove(w)
}

// cancel resolves and wakes whoever is filed.
func (h *fakeHost) cancel(batch int) (woken int) {
	buf := make([]*park.Waiter, batch)
	for {
		h.mu.Lock()
		n := h.waiters.Cancel(buf)
		h.mu.Unlock()
		for _, w := range buf[:n] {
			w.Unpark()
		}
		woken += n
		if n < batch {
			return woken
		}
	}
}

func (h *fakeHost) called(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(h.calls, want) {
		t.Errorf("the host was called for %q, want %q", h.calls, want)
	}
}

func TestHostGranted(t *testing.T) {
	h, ctx := newFake(context.Background())
	w := park.New(nil)
	tok := w.Arm(clock.Forever)
	w.Wake(tok, park.Woken)
	if o := w.Wait(ctx, tok, park.KindLock); o != park.Woken {
		t.Errorf("outcome %v", o)
	}
	h.called(t, "attach lock", "detach")
	if n := h.cancel(1); n != 0 {
		t.Errorf("%d waiters are left in the host", n)
	}
	reusable(t, w)
}

func TestHostRefuses(t *testing.T) {
	h, ctx := newFake(context.Background())
	h.refuse = true
	w := park.New(nil)
	tok := w.Arm(clock.Forever)
	if o := w.Wait(ctx, tok, park.KindUser); o != park.Canceled {
		t.Errorf("outcome %v", o)
	}
	h.called(t, "attach kind+64")
	reusable(t, w)

	// A grant that came first is kept, and its wake-up received.
	tok = w.Arm(clock.Forever)
	w.Resolve(tok, park.Woken)
	go w.Unpark()
	if o := w.Wait(ctx, tok, park.KindOther); o != park.Woken {
		t.Errorf("granted, then refused: %v", o)
	}
	reusable(t, w)
}

func TestHostCancels(t *testing.T) {
	const n, batch = 70, 32
	h, ctx := newFake(context.Background())
	var group sync.WaitGroup
	got := make([]park.Outcome, n)
	for i := range n {
		group.Go(func() {
			w := park.New(nil)
			got[i] = w.Wait(ctx, w.Arm(clock.Forever), park.KindOther)
			reusable(t, w)
		})
	}
	for woken := 0; woken < n; {
		woken += h.cancel(batch)
	}
	group.Wait()
	for i, o := range got {
		if o != park.Canceled {
			t.Errorf("waiter %d: %v", i, o)
		}
	}
}

// The channel above the host is closed: the host carries the cancellation out, and is asked before the waiter gives up.
func TestHostOuterCloses(t *testing.T) {
	closed := make(chan struct{})
	close(closed)

	t.Run("host resolves", func(t *testing.T) {
		h, ctx := newFake(context.Background())
		h.outer = closed
		h.check = func() error { h.cancel(8); return context.Canceled }
		w := park.New(nil)
		if o := w.Wait(ctx, w.Arm(clock.Forever), park.KindOther); o != park.Canceled {
			t.Errorf("outcome %v", o)
		}
		h.called(t, "attach other", "check", "detach")
		if err := park.Reason(ctx); err != context.Canceled {
			t.Errorf("Reason = %v", err)
		}
		reusable(t, w)
	})
	t.Run("host does not resolve", func(t *testing.T) {
		h, ctx := newFake(context.Background())
		h.outer = closed
		w := park.New(nil)
		if o := w.Wait(ctx, w.Arm(clock.Forever), park.KindOther); o != park.Canceled {
			t.Errorf("outcome %v", o)
		}
		h.called(t, "attach other", "check", "detach")
		// Neither the host nor its context says why: it must not look like success all the same.
		if err := park.Reason(ctx); err != context.Canceled {
			t.Errorf("Reason = %v, want %v", err, context.Canceled)
		}
		reusable(t, w)
	})
	t.Run("granted meanwhile", func(t *testing.T) {
		h, ctx := newFake(context.Background())
		h.outer = closed
		w := park.New(nil)
		tok := w.Arm(clock.Forever)
		h.check = func() error { w.Wake(tok, park.Woken); return context.Canceled }
		if o := w.Wait(ctx, tok, park.KindOther); o != park.Woken {
			t.Errorf("outcome %v: the grant was thrown away", o)
		}
		reusable(t, w)
	})
	t.Run("stays open", func(t *testing.T) {
		h, ctx := newFake(context.Background())
		h.outer = make(chan struct{})
		w := park.New(nil)
		tok := w.Arm(clock.Forever)
		go w.Wake(tok, park.Woken)
		if o := w.Wait(ctx, tok, park.KindOther); o != park.Woken {
			t.Errorf("outcome %v", o)
		}
		h.called(t, "attach other", "detach")
		close(h.outer)
		reusable(t, w)
	})
}

// Waiters resolves those that are armed, in the order in which they were filed, and skips the others.
func TestWaiters(t *testing.T) {
	var l park.Waiters
	ws := make([]*park.Waiter, 6)
	toks := make([]park.Token, len(ws))
	for i := range ws {
		ws[i] = park.New(nil)
		toks[i] = ws[i].Arm(clock.Forever)
		l.Add(ws[i], park.KindOther)
	}
	ws[1].Wake(toks[1], park.Woken) // granted already
	l.Remove(ws[3])                 // gone already
	l.Remove(ws[3])
	buf := make([]*park.Waiter, 2)
	var order []int
	for {
		n := l.Cancel(buf)
		for _, w := range buf[:n] {
			order = append(order, slices.Index(ws, w))
			w.Unpark()
		}
		if n < len(buf) {
			break
		}
	}
	if want := []int{0, 2, 4, 5}; !slices.Equal(order, want) {
		t.Errorf("resolved %v, want %v", order, want)
	}
	if n := l.Cancel(buf); n != 0 {
		t.Errorf("resolved %d once more", n)
	}
	if n := l.Cancel(nil); n != 0 {
		t.Errorf("resolved %d without room", n)
	}
	for i, w := range ws {
		want := park.Canceled
		switch i {
		case 1:
			want = park.Woken
		case 3:
			want = park.Self
		}
		l.Remove(w) // the owner's Detach
		if o := w.Withdraw(toks[i]); o != want {
			t.Errorf("waiter %d: %v, want %v", i, o, want)
		}
		reusable(t, w)
	}
}

func TestHostOf(t *testing.T) {
	for _, c := range slices.Concat(contexts, deaf) {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := c.make(t)
			for _, when := range []string{"live", "canceled"} {
				h, native := park.HostOf(ctx)
				if (h != nil) != c.host || native != c.native {
					t.Errorf("%s: host %v, native %v, want %v, %v", when, h, native, c.host, c.native)
				}
				if h2, _ := park.HostOf(ctx); h2 != h {
					t.Errorf("%s: another host at the second call", when)
				}
				cancel()
				cancel = func() {}
			}
		})
	}
}

func TestHostOfInnermost(t *testing.T) {
	outer, _ := scope(t)
	inner := open(t, outer)
	if h, native := park.HostOf(inner); h == nil || h.Context() != context.Context(inner) || !native {
		t.Error("the host is not the inner scope's")
	}
	err := bide.Shield(outer, 0, func(ctx context.Context) error {
		h, native := park.HostOf(ctx)
		if h == nil || h.Context() != ctx || !native {
			t.Error("the host in a shield is not the shield's")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// A host whose context cannot be canceled: there is no Done to tell by whether two are the same.
func TestHostOfWithoutDone(t *testing.T) {
	h, ctx := newFake(context.Background())
	if got, native := park.HostOf(ctx); got != park.Host(h) || !native {
		t.Errorf("its own context: %v, %v", got, native)
	}
	for _, below := range []context.Context{context.WithValue(ctx, key{}, 1), context.WithoutCancel(ctx)} {
		if got, native := park.HostOf(below); got != park.Host(h) || native {
			t.Errorf("%v: %v, %v", below, got, native)
		}
	}
}

// Err and Reason under contexts that were canceled for a reason.
func TestReason(t *testing.T) {
	because := errors.New("because")
	matching := &custom{is: context.Canceled}
	for _, c := range []struct {
		name string
		make func(t *testing.T) context.Context
		want func(error) bool
	}{
		{"std", func(*testing.T) context.Context {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			return ctx
		}, func(err error) bool { return err == context.Canceled }},
		{"std with a cause that does not match", func(*testing.T) context.Context {
			ctx, cancel := context.WithCancelCause(context.Background())
			cancel(because)
			return ctx
		}, func(err error) bool { return err == context.Canceled }},
		{"std with a cause that matches", func(*testing.T) context.Context {
			ctx, cancel := context.WithCancelCause(context.Background())
			cancel(matching)
			return ctx
		}, func(err error) bool { return err == error(matching) }},
		{"std past its deadline", func(t *testing.T) context.Context {
			ctx, cancel := context.WithTimeout(context.Background(), -1)
			t.Cleanup(cancel)
			return ctx
		}, func(err error) bool { return err == context.DeadlineExceeded }},
		{"scope", func(t *testing.T) context.Context {
			s, _ := scope(t)
			s.Cancel(because)
			return s
		}, by(bide.ByCancel, because)},
		{"scope past its deadline, which nobody noticed", func(t *testing.T) context.Context {
			v := clock.NewVirtual()
			s := open(t, context.Background(), bide.Clock(v), bide.Timeout(1))
			v.Advance(1)
			return s
		}, by(bide.ByDeadline, context.DeadlineExceeded)},
		{"value below a scope", func(t *testing.T) context.Context {
			s, _ := scope(t)
			s.Cancel(because)
			return context.WithValue(s, key{}, 1)
		}, by(bide.ByCancel, because)},
		{"std below a scope", func(t *testing.T) context.Context {
			s, _ := scope(t)
			ctx, cancel := context.WithCancel(s)
			t.Cleanup(cancel)
			s.Cancel(because)
			return ctx
		}, by(bide.ByCancel, because)},
		{"scope right below std", func(t *testing.T) context.Context {
			ctx, cancel := context.WithCancelCause(context.Background())
			s := open(t, ctx)
			cancel(because)
			return s
		}, by(bide.ByContext, because)},
		{"struct with its own Done", func(t *testing.T) context.Context {
			s, _ := scope(t)
			o := &overriding{s, make(chan struct{})}
			close(o.done)
			return o
		}, func(err error) bool { return err == context.Canceled }},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx := c.make(t)
			if err := park.Err(ctx); !c.want(err) {
				t.Errorf("Err = %v", err)
			}
			if err := park.Reason(ctx); !c.want(err) {
				t.Errorf("Reason = %v", err)
			}
		})
	}
	if err := park.Err(context.Background()); err != nil {
		t.Errorf("Err of a live context = %v", err)
	}
}

type custom struct{ is error }

func (c *custom) Error() string        { return "custom" }
func (c *custom) Is(target error) bool { return target == c.is }

// by accepts a *bide.Canceled of the source that errors.Is finds reason in.
func by(source bide.Source, reason error) func(error) bool {
	return func(err error) bool {
		c, ok := err.(*bide.Canceled)
		return ok && c.Source == source && errors.Is(err, reason)
	}
}
