package bide_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// panicOf returns what f panics with; nil if it does not.
func panicOf(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}

// panicsWith checks the exact text of a panic.
func panicsWith(t *testing.T, want string, f func()) {
	t.Helper()
	if v := panicOf(f); v != any(want) {
		t.Errorf("panic %#v, want %q", v, want)
	}
}

func fine(context.Context) error                    { return nil }
func fineValue(context.Context) (int, error)        { return 0, nil }
func fineScope(*bide.Scope) error                   { return nil }
func fineBody(context.Context, *bide.Nursery) error { return nil }
func discard(error)                                 {}
func inNursery(f func(n *bide.Nursery)) (err error) { return nursery(context.Background(), f) }
func nursery(ctx context.Context, f func(n *bide.Nursery)) error {
	return bide.WithNursery(ctx, func(_ context.Context, n *bide.Nursery) error { f(n); return nil })
}

// takers are the calls that take options, with arguments that are fine but for ctx and opts. A nil ctx makes Go, which
// takes none, do without.
var takers = []struct {
	name string
	call func(ctx context.Context, opts ...bide.Option)
	uses string // the options that it has a use for, besides Name and Clock
}{
	{"FailAfter", func(ctx context.Context, opts ...bide.Option) { discard(bide.FailAfter(ctx, time.Hour, fine, opts...)) }, ""},
	{"FailAt", func(ctx context.Context, opts ...bide.Option) { discard(bide.FailAt(ctx, time.Now(), fine, opts...)) }, ""},
	{"Within", func(ctx context.Context, opts ...bide.Option) { _, _ = bide.Within(ctx, time.Hour, fineValue, opts...) }, ""},
	{"MoveOnAfter", func(ctx context.Context, opts ...bide.Option) { _, _ = bide.MoveOnAfter(ctx, time.Hour, fine, opts...) }, ""},
	{"MoveOnAt", func(ctx context.Context, opts ...bide.Option) { _, _ = bide.MoveOnAt(ctx, time.Now(), fine, opts...) }, ""},
	{"Shield", func(ctx context.Context, opts ...bide.Option) { discard(bide.Shield(ctx, time.Hour, fine, opts...)) }, ""},
	{"Run", func(ctx context.Context, opts ...bide.Option) { discard(bide.Run(ctx, fineScope, opts...)) }, "Timeout Deadline MoveOn"},
	{"Open", func(ctx context.Context, opts ...bide.Option) { bide.Open(ctx, opts...).Close(nil) }, "Timeout Deadline MoveOn"},
	{"WithNursery", func(ctx context.Context, opts ...bide.Option) { discard(bide.WithNursery(ctx, fineBody, opts...)) }, "Timeout Deadline MoveOn"},
	{"Go", func(ctx context.Context, opts ...bide.Option) {
		var v any
		err := nursery(ctx, func(n *bide.Nursery) { v = panicOf(func() { n.Go(fine, opts...) }) })
		if v == nil && err != nil {
			v = err
		}
		if v != nil {
			panic(v)
		}
	}, "Timeout Deadline MoveOn"},
}

func TestMisuseNilContext(t *testing.T) {
	var none context.Context
	for _, call := range takers {
		if call.name != "Go" {
			panicsWith(t, "bide: "+call.name+": nil context", func() { call.call(none) })
			panicsWith(t, "bide: "+call.name+": nil context", func() { call.call(none, bide.Name("x")) })
		}
	}
	for name, call := range map[string]func(){
		"From":      func() { bide.From(none) },
		"Check":     func() { discard(bide.Check(none)) },
		"Remaining": func() { bide.Remaining(none) },
		"Sleep":     func() { discard(bide.Sleep(none, time.Second)) },
	} {
		panicsWith(t, "bide: "+name+": nil context", call)
	}
}

func TestMisuseNilFunction(t *testing.T) {
	s := bide.Open(context.Background())
	defer s.Close(nil)
	panicsWith(t, "bide: AfterFunc: nil function", func() { s.AfterFunc(nil) })
	err := inNursery(func(n *bide.Nursery) {
		panicsWith(t, "bide: Go: nil function", func() { n.Go(nil) })
		panicsWith(t, "bide: Go: nil function", func() { n.Go(nil, bide.Name("x")) })
	})
	if err != nil {
		t.Error("a nursery whose Go has panicked: ", err)
	}
	// A body is called directly, so that the runtime notices; nothing is left open below s.
	for name, call := range map[string]func(){
		"FailAfter":   func() { discard(bide.FailAfter(s, time.Hour, nil)) },
		"FailAt":      func() { discard(bide.FailAt(s, time.Now(), nil)) },
		"Within":      func() { _, _ = bide.Within[int](s, time.Hour, nil) },
		"MoveOnAfter": func() { _, _ = bide.MoveOnAfter(s, time.Hour, nil) },
		"MoveOnAt":    func() { _, _ = bide.MoveOnAt(s, time.Now(), nil) },
		"Shield":      func() { discard(bide.Shield(s, time.Hour, nil)) },
		"Run":         func() { discard(bide.Run(s, nil)) },
		"WithNursery": func() { discard(bide.WithNursery(s, nil)) },
	} {
		if v, ok := panicOf(call).(runtime.Error); !ok {
			t.Errorf("%s of a nil function: %v", name, v)
		}
	}
	if err := s.Check(); err != nil {
		t.Error("the scope around: ", err)
	}
}

func TestMisuseOptions(t *testing.T) {
	bounds := map[string]bide.Option{"Timeout": bide.Timeout(time.Hour), "Deadline": bide.Deadline(time.Now().Add(time.Hour)), "MoveOn": bide.MoveOn()}
	for _, call := range takers {
		do := func(opts ...bide.Option) func() { return func() { call.call(context.Background(), opts...) } }
		for name, opt := range bounds {
			if strings.Contains(call.uses, name) {
				if v := panicOf(do(opt, bide.Name("x"))); v != nil {
					t.Errorf("%s with %s: %v", call.name, name, v)
				}
				continue
			}
			panicsWith(t, "bide: "+call.name+" has no use for "+name, do(opt))
			panicsWith(t, "bide: "+call.name+" has no use for "+name, do(bide.Name("x"), opt))
		}
		if v := panicOf(do(bide.Name("x"), bide.Clock(clock.Monotonic()))); v != nil {
			t.Errorf("%s with Name and Clock: %v", call.name, v)
		}
		panicsWith(t, "bide: "+call.name+" has no use for the zero Option", do(bide.Option{}))
		if call.uses == "" {
			continue
		}
		timeout, deadline := bounds["Timeout"], bounds["Deadline"]
		both := func(a, b string) string {
			return "bide: " + call.name + ": " + a + " and " + b + " are both given: one bound a scope"
		}
		panicsWith(t, both("Timeout", "Deadline"), do(timeout, deadline))
		panicsWith(t, both("Deadline", "Timeout"), do(deadline, bide.Name("x"), timeout))
		panicsWith(t, both("Timeout", "Timeout"), do(timeout, timeout))
		panicsWith(t, both("Deadline", "Deadline"), do(deadline, bide.MoveOn(), deadline))
	}

	panicsWith(t, "bide: Clock: nil clock.Clock", func() { bide.Clock(nil) })
	panicsWith(t, "bide: Sleep has no use for Inline", func() { discard(bide.Sleep(context.Background(), time.Hour, timer.Inline())) })
	panicsWith(t, "bide: Sleep has no use for the zero Option", func() { discard(bide.Sleep(context.Background(), time.Hour, timer.Option{})) })
}

func TestMisuseClosedScope(t *testing.T) {
	s := bide.Open(context.Background())
	s.Close(nil)
	panicsWith(t, "bide: Close of a closed scope", func() { s.Close(nil) })

	s = bide.Open(context.Background(), bide.Name("upload"))
	s.Close(nil)
	panicsWith(t, "bide: Close of a closed scope upload", func() { s.Close(nil) })
	err := io.EOF
	panicsWith(t, "bide: Close of a closed scope upload", func() { s.Close(&err) })
	if err != io.EOF {
		t.Error("the second Close touched the error: ", err)
	}

	// The scope of a body is closed by the call.
	closeIt := func(ctx context.Context) error { bide.From(ctx).Close(nil); return nil }
	panicsWith(t, "bide: Close of a closed scope x", func() {
		discard(bide.FailAfter(context.Background(), time.Hour, closeIt, bide.Name("x")))
	})
	panicsWith(t, "bide: Close of a closed scope x", func() {
		discard(bide.WithNursery(context.Background(), func(ctx context.Context, _ *bide.Nursery) error { return closeIt(ctx) }, bide.Name("x")))
	})

	// What is opened below a closed scope is canceled; everything else of a closed scope is harmless.
	below := bide.Open(s)
	want := "bide: canceled by the end of its scope"
	if err := below.Check(); err == nil || err.Error() != want {
		t.Errorf("Check below a closed scope: %v, want %s", err, want)
	}
	below.Close(nil)
	if s.SetTimeout(time.Hour) || s.SetDeadline(time.Time{}) {
		t.Error("the deadline of a closed scope was moved")
	}
	if s.Remaining() != 0 || !errors.Is(s.Err(), context.Canceled) {
		t.Error("a closed scope: ", s.Remaining(), s.Err())
	}
}

func TestMisuseEndedNursery(t *testing.T) {
	for name, want := range map[string]string{
		"":      "bide: Go on a nursery that has ended",
		"crawl": "bide: Go on a nursery that has ended crawl",
	} {
		var n *bide.Nursery
		err := bide.WithNursery(context.Background(), func(_ context.Context, in *bide.Nursery) error {
			n = in
			return nil
		}, bide.Name(name))
		if err != nil {
			t.Error(err)
		}
		panicsWith(t, want, func() { n.Go(fine) })
		panicsWith(t, want, func() { n.Go(fine, bide.Name("child")) })
		panicsWith(t, want, func() { n.Go(fine, bide.Timeout(0)) })
		n.Cancel(nil) // harmless
	}
}

func TestErrorTexts(t *testing.T) {
	errDisk := errors.New("disk full")
	for _, c := range []struct {
		err  error
		want string
	}{
		{&bide.Canceled{Source: bide.ByDeadline}, `bide: canceled by deadline`},
		{&bide.Canceled{Source: bide.ByIdle, Scope: "download"}, `bide: canceled by idle of scope "download"`},
		{&bide.Canceled{Source: bide.ByCancel}, `bide: canceled by cancel`},
		{&bide.Canceled{Source: bide.ByCancel, Reason: errDisk}, `bide: canceled by cancel: disk full`},
		{&bide.Canceled{Source: bide.ByCancel, Scope: "get", Reason: errDisk}, `bide: canceled by cancel of scope "get": disk full`},
		{&bide.Canceled{Source: bide.ByCancel, Scope: "a \"b\"\n"}, `bide: canceled by cancel of scope "a \"b\"\n"`},
		{&bide.Canceled{Source: bide.BySibling, Reason: errDisk}, `bide: canceled by sibling: disk full`},
		{&bide.Canceled{Source: bide.ByBody, Reason: errDisk}, `bide: canceled by body: disk full`},
		{&bide.Canceled{Source: bide.ByContext, Reason: context.Canceled}, `bide: canceled by context: context canceled`},
		{&bide.Canceled{Source: bide.BySignal}, `bide: canceled by signal`},
		{&bide.Canceled{Source: bide.ByShutdown}, `bide: canceled by shutdown`},
		{&bide.Canceled{Source: bide.ByAbandoned}, `bide: canceled by the end of its scope`},
		{&bide.Canceled{}, `bide: canceled by source 0`},
		{&bide.Canceled{Source: 200, Scope: "x"}, `bide: canceled by source 200 of scope "x"`},
		{&bide.TimeoutError{}, `bide: timeout after 0s`},
		{&bide.TimeoutError{Limit: time.Second, Elapsed: 1500 * time.Millisecond}, `bide: timeout after 1s; ended after 1.5s`},
		{&bide.TimeoutError{Scope: "get", Limit: 10 * time.Second, Elapsed: time.Minute}, `bide: get: timeout after 10s; ended after 1m0s`},
		{bide.ErrGoexit, `bide: child called runtime.Goexit`},
		{bide.ErrMisnested, `bide: a scope was closed while one below it was open: close the inner one first`},
		{failureOf(errDisk), `bide: canceled by sibling: disk full`},
		{failureOf(errDisk, bide.Name("writer")), `bide: canceled by sibling: child "writer": disk full`},
		{canceledBelow(errDisk), `bide: canceled by context of scope "below": disk full`},
		{canceledBelow(nil), `bide: canceled by context of scope "below": context canceled`},
		{bodyPanics(), `bide: canceled by body: the body panicked, or called runtime.Goexit`},
	} {
		if got := c.err.Error(); got != c.want {
			t.Errorf("%#v: %q, want %q", c.err, got, c.want)
		}
		if got := fmt.Sprint(c.err); got != c.want {
			t.Errorf("printed: %q, want %q", got, c.want)
		}
	}
}

// failureOf is what the sibling of a child that fails gets.
func failureOf(failure error, opts ...bide.Option) (got error) {
	discard(nursery(context.Background(), func(n *bide.Nursery) {
		n.Go(func(ctx context.Context) error { got = blk(ctx); return got })
		n.Go(func(context.Context) error { return failure }, opts...)
	}))
	return got
}

// canceledBelow is what a scope below a canceled standard context gets.
func canceledBelow(cause error) error {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(cause)
	s := bide.Open(ctx, bide.Name("below"))
	defer s.Close(nil)
	return s.Check()
}

// bodyPanics is what the child of a nursery gets whose body panics.
func bodyPanics() (got error) {
	_ = panicOf(func() {
		discard(nursery(context.Background(), func(n *bide.Nursery) {
			n.Go(func(ctx context.Context) error { got = blk(ctx); return got })
			panic("a bug")
		}))
	})
	return got
}

// rewriter changes the options while a scope is opened with them.
type rewriter struct {
	context.Context
	opts []bide.Option
}

func (r rewriter) Value(key any) any {
	r.opts[0] = bide.Name("beyond")
	return r.Context.Value(key)
}

func TestOptionsChangedMeanwhile(t *testing.T) {
	defer func() {
		if p := recover(); p != "bide: Open: the slice of options was changed meanwhile" {
			t.Errorf("panic %v", p)
		}
	}()
	opts := []bide.Option{bide.Account()}
	bide.Open(rewriter{t.Context(), opts}, opts...)
}
