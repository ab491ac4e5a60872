package bide_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"bide.invalid/bide"
)

// line is the caller's, or one ahead of it, as SetBy tells it.
func line(ahead int) string {
	_, _, n, _ := runtime.Caller(1)
	return "site_test.go:" + strconv.Itoa(n+ahead)
}

// Whatever the form, the place is that of the call that opened the scope, or that moved its deadline last.
func TestSetBy(t *testing.T) {
	c := &C{T: t}
	all := bide.Open(context.Background(), bide.Account())
	defer all.Close(nil)
	var ctx context.Context = all
	gone := time.Now().Add(-time.Hour)
	value := func(ctx context.Context) (int, error) { return 0, bide.Check(ctx) }
	for _, test := range []struct {
		name string
		call func() (string, error)
	}{
		{"FailAfter", func() (string, error) { return line(0), bide.FailAfter(ctx, 0, bide.Check) }},
		{"FailAt", func() (string, error) { return line(0), bide.FailAt(ctx, gone, bide.Check) }},
		{"Within", func() (string, error) { _, err := bide.Within(ctx, 0, value); return line(0), err }},
		{"Shield", func() (string, error) { return line(0), bide.Shield(ctx, 0, bide.Check) }},
		{"Run", func() (string, error) {
			return line(0), bide.Run(ctx, func(s *bide.Scope) error { return s.Check() }, bide.Timeout(0))
		}},
		{"WithNursery", func() (string, error) {
			return line(0), bide.WithNursery(ctx, func(ctx context.Context, _ *bide.Nursery) error { return bide.Check(ctx) }, bide.Timeout(0))
		}},
		{"Go", func() (at string, err error) {
			err = bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
				at = line(1)
				n.Go(bide.Check, bide.Timeout(0))
				return nil
			})
			return at, err
		}},
		{"TryGo", func() (at string, err error) {
			err = bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
				at = line(1)
				n.TryGo(bide.Check, bide.Timeout(0))
				return nil
			})
			return at, err
		}},
		{"Open", func() (at string, err error) {
			at = line(1)
			s := bide.Open(ctx, bide.Timeout(0))
			err = s.Check()
			s.Close(&err)
			return at, err
		}},
		{"SetTimeout", func() (at string, err error) {
			s := bide.Open(ctx, bide.Timeout(time.Hour))
			at = line(1)
			s.SetTimeout(0)
			err = s.Check()
			s.Close(&err)
			return at, err
		}},
		{"SetDeadline", func() (at string, err error) {
			s := bide.Open(ctx)
			at = line(1)
			s.SetDeadline(gone)
			err = s.Check()
			s.Close(&err)
			return at, err
		}},
		{"SetTimeout that was refused", func() (at string, err error) {
			at = line(1)
			s := bide.Open(ctx, bide.Timeout(0))
			s.SetTimeout(time.Hour)
			err = s.Check()
			s.Close(&err)
			return at, err
		}},
	} {
		at, err := test.call()
		e := c.TimeoutError(err)
		c.True(strings.HasSuffix(e.SetBy(), " "+at) && strings.HasPrefix(e.SetBy(), "bide_test.TestSetBy"), "%s: %q, want %s", test.name, e.SetBy(), at)
		c.True(strings.HasPrefix(e.Error(), "bide: "+at+": timeout after "), "%s: %v", test.name, e)
		c.True(strings.HasSuffix(fmt.Sprintf("%+v", e), "; set by "+e.SetBy()), "%s: %+v", test.name, e)
	}
	e := c.TimeoutError(bide.FailAfter(context.Background(), 0, bide.Check))
	c.Equal(e.SetBy(), "", "without Account")
	e = c.TimeoutError(bide.FailAfter(ctx, 0, bide.Check, bide.Name("checkout")))
	c.Equal(e.SetBy(), "", "with a name")
	s := bide.Open(ctx, bide.Name("checkout"))
	at := line(1)
	s.SetTimeout(0)
	err := s.Check()
	s.Close(&err)
	c.True(strings.HasSuffix(c.TimeoutError(err).SetBy(), " "+at), "moved, with a name: %v", err)
}

func TestTimeoutErrorFormat(t *testing.T) {
	e := &bide.TimeoutError{Scope: "get", Limit: time.Second, Elapsed: time.Second}
	for format, want := range map[string]string{
		"%v":   "bide: get: timeout after 1s",
		"%s":   "bide: get: timeout after 1s",
		"%q":   `"bide: get: timeout after 1s"`,
		"%30s": "   bide: get: timeout after 1s",
		"%+v":  "bide: get: timeout after 1s; ended after 1s",
	} {
		if got := fmt.Sprintf(format, error(e)); got != want {
			t.Errorf("%s: %q, want %q", format, got, want)
		}
	}
}

// Nobody knows by heart which call has set the bound that was met.
func ExampleTimeoutError_SetBy() {
	err := bide.FailAfter(context.Background(), 0, bide.Check, bide.Account())
	if e := new(bide.TimeoutError); errors.As(err, &e) {
		function, place, _ := strings.Cut(e.SetBy(), " ")
		file, _, _ := strings.Cut(place, ":")
		fmt.Println(function, "in", file)
	}
	// Output: bide_test.ExampleTimeoutError_SetBy in site_test.go
}
