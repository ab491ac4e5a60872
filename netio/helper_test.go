package netio_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/netio"
)

// pipe is a connection in memory: mine under test, and the peer.
func pipe(t *testing.T) (mine *netio.Conn, peer net.Conn) {
	a, b := net.Pipe()
	mine = netio.New(a)
	t.Cleanup(func() { mine.Close(); b.Close() })
	return mine, b
}

// loopback is a connection over TCP.
func loopback(t testing.TB) (mine, peer net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	mine, err = net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	peer, err = l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mine.Close(); peer.Close() })
	return mine, peer
}

// canceled fails unless err is what ended ctx.
func canceled(t *testing.T, ctx context.Context, err error) {
	t.Helper()
	if want := context.Cause(ctx); err == nil || err != want {
		t.Errorf("error %v (%T), want the context's %v", err, err, want)
	}
}

// expired is a context whose bound has passed, kinds of contexts under which an operation is to be the same.
var kinds = []struct {
	name  string
	below func(ctx context.Context, d time.Duration) (context.Context, func(error))
}{
	{"scope", func(ctx context.Context, d time.Duration) (context.Context, func(error)) {
		s := bide.Open(ctx, bide.Timeout(d))
		return s, func(err error) { s.Cancel(err) }
	}},
	{"value below a scope", func(ctx context.Context, d time.Duration) (context.Context, func(error)) {
		s := bide.Open(ctx, bide.Timeout(d))
		return context.WithValue(s, key{}, 1), func(err error) { s.Cancel(err) }
	}},
	{"accounting scope", func(ctx context.Context, d time.Duration) (context.Context, func(error)) {
		s := bide.Open(ctx, bide.Timeout(d), bide.Account())
		return s, func(err error) { s.Cancel(err) }
	}},
	{"scope below a cancelCtx", func(ctx context.Context, d time.Duration) (context.Context, func(error)) {
		ctx, cancel := context.WithCancelCause(ctx)
		return bide.Open(ctx, bide.Timeout(d)), cancel
	}},
	{"timerCtx", func(ctx context.Context, d time.Duration) (context.Context, func(error)) {
		return timed(ctx, d)
	}},
	{"a type of its own", func(ctx context.Context, d time.Duration) (context.Context, func(error)) {
		ctx, cancel := timed(ctx, d)
		return own{ctx}, cancel
	}},
}

func timed(ctx context.Context, d time.Duration) (context.Context, func(error)) {
	ctx, cancel := context.WithCancelCause(ctx)
	ctx, stop := context.WithTimeout(ctx, d)
	context.AfterFunc(ctx, stop)
	return ctx, cancel
}

type key struct{}

// own hides what package context knows of a context.
type own struct{ context.Context }

func (o own) Value(k any) any { return nil }

var errTest = errors.New("the test")
