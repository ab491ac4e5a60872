package netio_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/netio"
)

// A read and a write end with their context, whatever kind it is; afterwards the connection serves another one.
func TestEndsWithContext(t *testing.T) {
	for _, k := range kinds {
		for _, how := range []string{"cancel", "deadline", "before"} {
			t.Run(k.name+"/"+how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c, peer := pipe(t)
					var buf [8]byte
					ctx, cancel := k.below(t.Context(), time.Minute)
					start := time.Now()
					switch how {
					case "cancel":
						time.AfterFunc(time.Second, func() { cancel(errTest) })
					case "before":
						cancel(errTest)
					}
					n, err := c.ReadContext(ctx, buf[:])
					if n != 0 {
						t.Errorf("read %d bytes of nobody", n)
					}
					if took := time.Since(start); how == "deadline" && took < time.Minute || how == "before" && took > 0 {
						t.Errorf("ended after %v", took)
					}
					want := error(context.Canceled)
					if how == "deadline" {
						want = context.DeadlineExceeded
					}
					if !errors.Is(err, want) {
						t.Errorf("read: %v, want %v", err, want)
					}
					if _, err := c.WriteContext(ctx, buf[:]); !errors.Is(err, want) {
						t.Errorf("write under what is over: %v, want %v", err, want)
					}

					// The same with a write.
					ctx, cancel = k.below(t.Context(), time.Minute)
					time.AfterFunc(time.Second, func() { cancel(errTest) })
					go peer.Read(buf[:3])
					n, err = c.WriteContext(ctx, []byte("abcdef"))
					if n != 3 || !errors.Is(err, context.Canceled) {
						t.Errorf("write: %d, %v, want 3 and the context's error", n, err)
					}

					// Nothing is left of that.
					ctx, cancel = k.below(t.Context(), time.Minute)
					defer cancel(nil)
					go peer.Write([]byte("hello"))
					n, err = c.ReadContext(ctx, buf[:])
					if string(buf[:n]) != "hello" || err != nil {
						t.Errorf("afterwards read %q, %v", buf[:n], err)
					}
				})
			})
		}
	}
}

// The error is the context's cause itself, where that is ours.
func TestErrorIsTheCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := pipe(t)
		s := bide.Open(t.Context())
		defer s.Close(nil)
		time.AfterFunc(time.Second, func() { s.Cancel(errTest) })
		_, err := c.ReadContext(s, make([]byte, 1))
		canceled(t, s, err)
		if !errors.Is(err, errTest) {
			t.Errorf("error %v does not have the reason", err)
		}
	})
}

// The scope that ends does not touch an operation under another one, though the connection was filed in it.
func TestNotPokedByTheLastScope(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, peer := pipe(t)
		var buf [1]byte
		for _, next := range kinds {
			old := bide.Open(t.Context())
			go peer.Write([]byte("x"))
			if _, err := c.ReadContext(old, buf[:]); err != nil {
				t.Fatal(err)
			}
			time.AfterFunc(time.Second, func() { old.Cancel(errTest); old.Close(nil) })
			time.AfterFunc(2*time.Second, func() { peer.Write([]byte("y")) })
			ctx, cancel := next.below(t.Context(), time.Minute)
			if _, err := c.ReadContext(ctx, buf[:]); err != nil || buf[0] != 'y' {
				t.Errorf("%s: read %q, %v", next.name, buf, err)
			}
			cancel(nil)
		}
		old := bide.Open(t.Context())
		go peer.Write([]byte("x"))
		c.ReadContext(old, buf[:])
		time.AfterFunc(time.Second, func() { old.Close(nil) })
		time.AfterFunc(2*time.Second, func() { peer.Write([]byte("z")) })
		if _, err := c.ReadContext(context.Background(), buf[:]); err != nil || buf[0] != 'z' {
			t.Errorf("without an end: read %q, %v", buf, err)
		}
	})
}

// Deadlines of the user's hold beside the context, and are there again after a cancellation.
func TestUserDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := pipe(t)
		start := time.Now()
		c.SetDeadline(start.Add(time.Minute))
		s := bide.Open(t.Context(), bide.Timeout(time.Second))
		_, err := c.ReadContext(s, make([]byte, 1))
		canceled(t, s, err)
		s.Close(nil)
		for _, op := range []func() (int, error){
			func() (int, error) { return c.ReadContext(t.Context(), make([]byte, 1)) },
			func() (int, error) { return c.WriteContext(t.Context(), make([]byte, 1)) },
		} {
			if _, err := op(); !errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, new(*bide.Canceled)) {
				t.Errorf("error %v, want the connection's", err)
			}
			if took := time.Since(start); took != time.Minute {
				t.Errorf("ended after %v", took)
			}
		}
		c.SetReadDeadline(time.Now().Add(time.Minute)) // and another one, afterwards
		if _, err := c.ReadContext(t.Context(), make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(start) != 2*time.Minute {
			t.Errorf("error %v after %v", err, time.Since(start))
		}
	})
}

// Nor is one that the user sets after a cancellation forgotten.
func TestUserDeadlineAgainBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := pipe(t)
		p := make([]byte, 1)
		if err := bide.FailAfter(t.Context(), time.Second, func(ctx context.Context) error {
			_, err := c.ReadContext(ctx, p)
			return err
		}); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		c.SetReadDeadline(time.Now().Add(time.Minute))
		begun := time.Now()
		if err := bide.FailAfter(t.Context(), time.Hour, func(ctx context.Context) error {
			_, err := c.ReadContext(ctx, p)
			return err
		}); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(begun) != time.Minute {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
	})
}

// A deadline that the user sets while a canceled read is on its way out does not keep it in.
func TestUserDeadlineAgainstPoke(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, _ := net.Pipe()
		slow := &lateReader{Conn: a, goOn: make(chan struct{})}
		c := netio.New(slow)
		defer c.Close()
		s := bide.Open(t.Context())
		defer s.Close(nil)
		done := make(chan error)
		go func() {
			_, err := c.ReadContext(s, make([]byte, 1))
			done <- err
		}()
		synctest.Wait()
		s.Cancel(errTest) // poked before the connection's Read has begun
		c.SetReadDeadline(time.Now().Add(time.Hour))
		close(slow.goOn)
		start := time.Now()
		canceled(t, s, <-done)
		if took := time.Since(start); took > 0 {
			t.Errorf("ended after %v", took)
		}
		if _, err := c.ReadContext(t.Context(), make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(start) != time.Hour {
			t.Errorf("the user's deadline: %v after %v", err, time.Since(start))
		}
	})
}

type lateReader struct {
	net.Conn
	goOn chan struct{}
}

func (l *lateReader) Read(p []byte) (int, error) {
	<-l.goOn
	return l.Conn.Read(p)
}

// A deadline of the connection's that comes before the scope's own timer has run is the scope's.
func TestDeadlineBeforeTheTimer(t *testing.T) {
	v := &ahead{Virtual: clock.NewVirtual()}
	c := netio.New(timeouts{})
	err := bide.FailAfter(t.Context(), time.Second, func(ctx context.Context) error {
		if _, err := c.ReadContext(ctx, make([]byte, 1)); errors.As(err, new(*bide.Canceled)) || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("before the deadline: %v", err)
		}
		v.by = time.Second
		_, err := c.ReadContext(ctx, make([]byte, 1))
		if !errors.As(err, new(*bide.Canceled)) {
			t.Errorf("after it: %v", err)
		}
		return err
	}, bide.Clock(v))
	if !errors.As(err, new(*bide.TimeoutError)) {
		t.Errorf("the scope ended with %v", err)
	}
}

// ahead is a clock whose alarms are late.
type ahead struct {
	*clock.Virtual
	by time.Duration
}

func (a *ahead) Now() clock.Instant { return a.Virtual.Now().Add(a.by) }

// timeouts is a connection whose deadline has always passed.
type timeouts struct{ still }

func (timeouts) Read(p []byte) (int, error) { return 0, os.ErrDeadlineExceeded }

// What was read is returned, though the context ends meanwhile.
func TestDataBeatsCancellation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := bide.Open(t.Context())
		defer s.Close(nil)
		c := netio.New(cancels{still{}, s})
		if n, err := c.ReadContext(s, make([]byte, 5)); n != 5 || err != nil {
			t.Errorf("read %d, %v", n, err)
		}
		_, err := c.ReadContext(s, make([]byte, 5))
		canceled(t, s, err)
		if n, err := c.ReadContext(t.Context(), make([]byte, 5)); n != 5 || err != nil {
			t.Errorf("under another context: read %d, %v", n, err)
		}
	})
}

// cancels is a connection that cancels a scope in each Read.
type cancels struct {
	still
	s *bide.Scope
}

func (c cancels) Read(p []byte) (int, error) {
	c.s.Cancel(errTest)
	return len(p), nil
}

// An error that is not a timeout is the connection's, canceled or not.
func TestOtherErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, peer := pipe(t)
		s := bide.Open(t.Context())
		defer s.Close(nil)
		peer.Close()
		if _, err := c.ReadContext(s, make([]byte, 1)); err != io.EOF {
			t.Errorf("read: %v", err)
		}
		go c.Close()
		other, _ := pipe(t)
		time.AfterFunc(time.Second, func() { other.Close() })
		if _, err := other.ReadContext(s, make([]byte, 1)); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("read of what is closed: %v", err)
		}
	})
}

// A peer that does not answer any more is the connection's error, whatever is canceled meanwhile: it is said once.
func TestPeerIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := bide.Open(t.Context())
		defer s.Close(nil)
		c := netio.New(gone{still{}, s})
		if _, err := c.ReadContext(s, make([]byte, 1)); !errors.Is(err, syscall.ETIMEDOUT) {
			t.Errorf("read: %v", err)
		}
	})
}

// gone is a connection whose peer does not answer any more; a scope is canceled meanwhile.
type gone struct {
	still
	s *bide.Scope
}

func (g gone) Read([]byte) (int, error) {
	g.s.Cancel(nil)
	return 0, &net.OpError{Op: "read", Err: os.NewSyscallError("read", syscall.ETIMEDOUT)}
}

// A connection whose peer has closed before New, and which takes no deadline any more, is read to its end.
func TestPeerHasClosed(t *testing.T) {
	a, peer := net.Pipe()
	peer.Close()
	if _, err := netio.New(a).ReadContext(t.Context(), make([]byte, 1)); err != io.EOF {
		t.Errorf("read: %v", err)
	}
}

// A context that has ended is not kept by a connection that has noticed.
func TestEndedIsNotKept(t *testing.T) {
	bare := kinds[0]
	bare.name, bare.below = "cancelCtx", func(ctx context.Context, _ time.Duration) (context.Context, func(error)) {
		return context.WithCancelCause(ctx)
	}
	for _, k := range append(kinds[:4:4], bare) { // the others have timers, which the runtime keeps for a while
		c := netio.New(still{})
		var kept weak.Pointer[[8 << 10]byte]
		func() {
			value := new([8 << 10]byte)
			kept = weak.Make(value)
			ctx, cancel := k.below(context.WithValue(context.Background(), key{}, value), time.Hour)
			c.ReadContext(ctx, make([]byte, 1))
			cancel(nil)
			if _, err := c.ReadContext(ctx, make([]byte, 1)); err == nil {
				t.Errorf("%s: read under what is canceled", k.name)
			}
			if s, ok := ctx.(*bide.Scope); ok {
				s.Close(nil)
			}
		}()
		for i := 0; i < 100 && kept.Value() != nil; i++ { // goroutines of package context may still have to end
			runtime.Gosched()
			runtime.GC()
		}
		if kept.Value() != nil {
			t.Errorf("%s: kept", k.name)
		}
		runtime.KeepAlive(c)
	}
}

// Who waits for his turn is bounded, too, and the turn goes on.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, peer := pipe(t)
		first := make(chan error)
		go func() {
			_, err := c.ReadContext(t.Context(), make([]byte, 1))
			first <- err
		}()
		synctest.Wait()
		s := bide.Open(t.Context(), bide.Timeout(time.Second))
		_, err := c.ReadContext(s, make([]byte, 1))
		canceled(t, s, err)
		s.Close(nil)
		got := make(chan byte)
		for range 3 {
			go func() {
				var b [1]byte
				c.ReadContext(t.Context(), b[:])
				got <- b[0]
			}()
		}
		synctest.Wait()
		peer.Write([]byte("abcd"))
		if err := <-first; err != nil {
			t.Error(err)
		}
		if sum := int(<-got) + int(<-got) + int(<-got); sum != 'b'+'c'+'d' {
			t.Errorf("the three got %d", sum)
		}
	})
}

// A closed connection is not kept by the scope that it was used under, also if it is closed during an operation.
func TestCloseUnfiles(t *testing.T) {
	for _, k := range kinds {
		ctx, cancel := k.below(t.Context(), time.Hour)
		var gone []weak.Pointer[netio.Conn]
		for i := range 20 {
			func() {
				a, b := net.Pipe()
				c := netio.New(a)
				gone = append(gone, weak.Make(c))
				go b.Write([]byte("x"))
				c.ReadContext(ctx, make([]byte, 1))
				if i%2 == 0 {
					done := make(chan struct{})
					go func() {
						defer close(done)
						c.ReadContext(ctx, make([]byte, 1))
					}()
					runtime.Gosched()
					defer func() { <-done }()
				}
				c.Close()
				b.Close()
			}()
		}
		left := 0
		for range 100 { // goroutines of package context may still have to end
			runtime.Gosched()
			runtime.GC()
			left = 0
			for _, w := range gone {
				if w.Value() != nil {
					left++
				}
			}
			if left == 0 {
				break
			}
		}
		if left > 1 { // one may lie on a stack
			t.Errorf("%s: %d of %d are kept", k.name, left, len(gone))
		}
		cancel(nil)
	}
}

// An operation under the scope of the one before allocates nothing.
func TestAllocs(t *testing.T) {
	std, cancel := context.WithCancel(t.Context())
	defer cancel()
	s, below := bide.Open(t.Context(), bide.Timeout(time.Hour)), bide.Open(std)
	defer s.Close(nil)
	defer below.Close(nil)
	c := netio.New(still{})
	var buf [64]byte
	for _, ctx := range []context.Context{s, context.Background(), std, below, context.WithValue(s, key{}, 1)} {
		if n := testing.AllocsPerRun(100, func() {
			c.ReadContext(ctx, buf[:])
			c.WriteContext(ctx, buf[:])
		}); n != 0 {
			t.Errorf("%v: %v allocations", ctx, n)
		}
	}
}

// The time of reads is in the account of their scope, and that between them is not.
func TestAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, peer := pipe(t)
		go func() {
			for range 2 {
				time.Sleep(time.Second)
				peer.Write([]byte("x"))
				time.Sleep(3 * time.Second)
			}
		}()
		err := bide.FailAfter(t.Context(), 10*time.Second, func(ctx context.Context) error {
			for range 2 {
				c.ReadContext(ctx, make([]byte, 1))
				time.Sleep(3 * time.Second)
			}
			_, err := c.ReadContext(ctx, make([]byte, 1))
			return err
		}, bide.Account())
		var e *bide.TimeoutError
		if !errors.As(err, &e) || len(e.Ledger) != 1 || e.Ledger[0].Total != 4*time.Second || e.Ledger[0].Count != 3 {
			t.Errorf("%v, ledger %+v", err, e.Ledger)
		}
	})
}

// A connection that is filed and does nothing is not waited for.
func TestIdleIsNotWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, peer := pipe(t)
		err := bide.FailAfter(t.Context(), 10*time.Second, func(ctx context.Context) error {
			go peer.Write([]byte("x"))
			c.ReadContext(ctx, make([]byte, 1))
			return bide.Sleep(ctx, time.Hour)
		})
		var e *bide.TimeoutError
		if !errors.As(err, &e) || len(e.Ledger) != 1 || e.Ledger[0].Kind.String() != "sleep" {
			t.Errorf("%v, ledger %+v", err, e.Ledger)
		}
	})
}

// A Read that panics leaves the connection usable.
func TestPanic(t *testing.T) {
	c := netio.New(panics{})
	func() {
		defer func() { recover() }()
		c.ReadContext(t.Context(), nil)
	}()
	s := bide.Open(t.Context())
	defer s.Close(nil)
	if n, err := c.ReadContext(s, make([]byte, 3)); n != 3 || err != nil {
		t.Errorf("read %d, %v", n, err)
	}
}

type panics struct{ still }

func (panics) Read(p []byte) (int, error) {
	if p == nil {
		panic("nobody expects this")
	}
	return len(p), nil
}

func TestMisuse(t *testing.T) {
	for _, ctx := range []context.Context{t.Context(), context.Background()} {
		if _, err := netio.New(undying{}).ReadContext(ctx, nil); !errors.Is(err, os.ErrNoDeadline) {
			t.Errorf("a connection without deadlines: %v", err)
		}
	}
	for want, f := range map[string]func(){
		"bide/netio: New of a nil net.Conn":                  func() { netio.New(nil) },
		"bide/netio: NewPacket of a nil net.PacketConn":      func() { netio.NewPacket(nil) },
		"bide/netio: Bind to a nil context":                  func() { netio.Bind(nil, still{}) }, //nolint:staticcheck // the misuse
		"bide/netio: BindProgress: bytes is not positive":    func() { netio.BindProgress(t.Context(), still{}, 0) },
		"bide/netio: BindProgress: the context has no scope": func() { netio.BindProgress(t.Context(), still{}, 1) },
	} {
		func() {
			defer func() {
				if got, _ := recover().(string); !strings.HasPrefix(got, want) {
					t.Errorf("panicked with %q, want %q", got, want)
				}
			}()
			f()
		}()
	}
}

// undying is a connection that has no deadlines.
type undying struct{ net.Conn }

func (undying) SetReadDeadline(time.Time) error  { return os.ErrNoDeadline }
func (undying) SetWriteDeadline(time.Time) error { return os.ErrNoDeadline }
