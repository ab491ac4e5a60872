package bidetest_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/bidetest"
	"bide.invalid/bide/netio"
)

// wrong is a connection in memory, in a bubble.
func wrong(t *testing.T, f func(t *testing.T, ctx context.Context, c *bidetest.Conn, peer net.Conn)) {
	bidetest.Bubble(t, func(t *testing.T, ctx context.Context) {
		bidetest.NoLeaks(t)
		a, peer := net.Pipe()
		c := bidetest.NewConn(ctx, a)
		defer peer.Close()
		defer c.Close()
		f(t, ctx, c, peer)
	})
}

// took fails unless f takes so long.
func took(t *testing.T, d time.Duration, f func()) {
	t.Helper()
	begun := time.Now()
	f()
	if got := time.Since(begun); got != d {
		t.Errorf("it took %v, want %v", got, d)
	}
}

func says(t *testing.T, p []byte, n int, err error, want string, wantErr error) {
	t.Helper()
	if string(p[:n]) != want || wantErr == nil && err != nil || !errors.Is(err, wantErr) {
		t.Errorf("%q, %v, want %q, %v", p[:n], err, want, wantErr)
	}
}

func TestConnDrip(t *testing.T) {
	wrong(t, func(t *testing.T, ctx context.Context, c *bidetest.Conn, peer net.Conn) {
		go peer.Write([]byte("hello"))
		c.Drip(2, time.Second)
		p := make([]byte, 10)
		took(t, time.Second, func() {
			time.AfterFunc(time.Second/2, func() { c.SetWriteDeadline(time.Now().Add(time.Hour)) }) // this does not end it
			n, err := c.Read(p)
			says(t, p, n, err, "he", nil)
		})
		took(t, time.Second/2, func() {
			c.SetReadDeadline(time.Now().Add(time.Second / 2))
			n, err := c.Read(p)
			says(t, p, n, err, "", os.ErrDeadlineExceeded)
		})
		c.SetReadDeadline(time.Time{})
		c.Drip(0, 0)
		took(t, 0, func() {
			n, err := c.Read(p)
			says(t, p, n, err, "llo", nil)
		})
		c.Drip(1, time.Hour)
		time.AfterFunc(time.Minute, func() { c.Close() })
		took(t, time.Minute, func() {
			n, err := c.Read(p)
			says(t, p, n, err, "", net.ErrClosed)
		})
	})
}

// Close ends every pause: that of each of two who read, and one that begins in the same moment.
func TestConnDripClose(t *testing.T) {
	wrong(t, func(t *testing.T, ctx context.Context, c *bidetest.Conn, peer net.Conn) {
		c.Drip(1, time.Hour)
		errs := make(chan error, 2)
		for range 2 {
			go func() { _, err := c.Read(make([]byte, 1)); errs <- err }()
			bidetest.Settle(t)
		}
		took(t, 0, func() {
			c.Close()
			for range 2 {
				if err := <-errs; !errors.Is(err, net.ErrClosed) {
					t.Error(err)
				}
			}
		})
	})
	bidetest.Bubble(t, func(t *testing.T, ctx context.Context) {
		a, peer := net.Pipe()
		defer peer.Close()
		took(t, 0, func() {
			for i := range 20_000 {
				c := bidetest.NewConn(ctx, a)
				c.Drip(1, time.Hour)
				var begun atomic.Bool
				over := make(chan struct{})
				go func() {
					defer close(over)
					begun.Store(true)
					_, _ = c.Read(make([]byte, 1))
				}()
				for !begun.Load() {
					runtime.Gosched()
				}
				for range i % 500 {
					begun.Load()
				}
				c.Close()
				<-over
			}
		})
	})
}

// The pause is on the clock of the context, and ends with it.
func TestConnVirtual(t *testing.T) {
	bidetest.Bubble(t, func(t *testing.T, _ context.Context) {
		ctx, clock := bidetest.Virtual(t)
		a, peer := net.Pipe()
		defer peer.Close()
		s := bide.Open(ctx)
		defer s.Close(nil)
		c := bidetest.NewConn(s, a)
		defer c.Close()
		c.Drip(1, time.Hour)
		var got []string
		over := make(chan error)
		go func() {
			for p := make([]byte, 10); ; {
				n, err := c.Read(p)
				if err != nil {
					over <- err
					return
				}
				got = append(got, string(p[:n]))
			}
		}()
		go peer.Write([]byte("abc"))
		bidetest.JumpUntil(t, clock, func() bool { return len(got) == 2 })
		if d := clock.Now().Sub(0); d < 2*time.Hour {
			t.Errorf("two bytes after %v", d)
		}
		s.Cancel(nil)
		if err := <-over; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		c.Drip(0, 0)
		c.Stall()
		if _, err := c.Write([]byte("x")); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

func TestConnStall(t *testing.T) {
	wrong(t, func(t *testing.T, ctx context.Context, c *bidetest.Conn, peer net.Conn) {
		p := make([]byte, 10)
		go func() {
			time.Sleep(time.Second)
			c.Stall() // while it is read
			peer.Write([]byte("late"))
		}()
		c.SetReadDeadline(time.Now().Add(time.Minute))
		took(t, time.Minute, func() {
			n, err := c.Read(p)
			says(t, p, n, err, "", os.ErrDeadlineExceeded)
		})
		c.SetWriteDeadline(time.Now().Add(time.Minute))
		took(t, time.Minute, func() {
			n, err := c.Write(p)
			says(t, p, n, err, "", os.ErrDeadlineExceeded)
		})
		c.SetDeadline(time.Time{})
		time.AfterFunc(time.Second, c.Resume)
		took(t, time.Second, func() {
			n, err := c.Read(p[:2])
			says(t, p, n, err, "la", nil)
			n, err = c.Read(p)
			says(t, p, n, err, "te", nil)
		})
	})
}

func TestConnReset(t *testing.T) {
	wrong(t, func(t *testing.T, ctx context.Context, c *bidetest.Conn, peer net.Conn) {
		time.AfterFunc(time.Second, c.Reset)
		p := make([]byte, 10)
		wrote := make(chan error)
		go func() {
			_, err := c.Write(p)
			wrote <- err
		}()
		took(t, time.Second, func() {
			n, err := c.Read(p)
			says(t, p, n, err, "", syscall.ECONNRESET)
		})
		if err := <-wrote; !errors.Is(err, syscall.ECONNRESET) {
			t.Error(err)
		}
		if _, err := c.Write(p); !errors.Is(err, syscall.ECONNRESET) {
			t.Error(err)
		}
		if _, err := peer.Read(p); err != io.EOF {
			t.Error(err)
		}
	})
}

func TestConnHalfOpen(t *testing.T) {
	wrong(t, func(t *testing.T, ctx context.Context, c *bidetest.Conn, peer net.Conn) {
		c.HalfOpen()
		if n, err := c.Write([]byte("lost")); n != 4 || err != nil {
			t.Error(n, err)
		}
		k := netio.New(c)
		p := make([]byte, 10)
		took(t, time.Minute, func() {
			n, err := 0, error(nil)
			bide.FailAfter(ctx, time.Minute, func(ctx context.Context) error {
				n, err = k.ReadContext(ctx, p)
				return err
			})
			says(t, p, n, err, "", context.DeadlineExceeded)
		})
		if err := peer.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		if n, err := peer.Read(p); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error(n, err)
		}
	})
}

func TestConnPartialWrite(t *testing.T) {
	wrong(t, func(t *testing.T, ctx context.Context, c *bidetest.Conn, peer net.Conn) {
		broken := errors.New("broken")
		go func() {
			c.PartialWrite(3, broken)
			n, err := c.Write([]byte("hello"))
			if n != 3 || err != broken {
				t.Error(n, err)
			}
			c.PartialWrite(3, broken)
			n, err = c.Write([]byte("abc")) // that is all of it
			if n != 3 || err != nil {
				t.Error(n, err)
			}
			n, err = c.Write([]byte("defg"))
			if n != 4 || err != nil {
				t.Error(n, err)
			}
			c.Close()
		}()
		got, err := io.ReadAll(peer)
		says(t, got, len(got), err, "helabcdefg", nil)
	})
}

// A deadline that is moved, and one that has passed and is taken back.
func TestConnDeadlines(t *testing.T) {
	wrong(t, func(t *testing.T, ctx context.Context, c *bidetest.Conn, peer net.Conn) {
		c.Stall()
		c.SetDeadline(time.Now().Add(time.Second))
		time.AfterFunc(time.Second/2, func() { c.SetDeadline(time.Now().Add(time.Hour)) })
		p := make([]byte, 1)
		took(t, time.Hour+time.Second/2, func() {
			n, err := c.Read(p)
			says(t, p, n, err, "", os.ErrDeadlineExceeded)
		})
		took(t, 0, func() {
			n, err := c.Write(p)
			says(t, p, n, err, "", os.ErrDeadlineExceeded)
			c.SetDeadline(time.Now().Add(-time.Second))
			n, err = c.Read(p)
			says(t, p, n, err, "", os.ErrDeadlineExceeded)
			c.SetDeadline(time.Time{})
			c.Resume()
			go peer.Write([]byte("x"))
			n, err = c.Read(p)
			says(t, p, n, err, "x", nil)
		})
	})
	synctest.Test(t, func(t *testing.T) { // what cannot have one
		c := bidetest.NewConn(t.Context(), undying{})
		if err := c.SetDeadline(time.Time{}); err != os.ErrNoDeadline {
			t.Error(err)
		}
	})
}

type undying struct{ net.Conn }

func (undying) SetReadDeadline(time.Time) error { return os.ErrNoDeadline }
