package netio_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/bidetest"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/netio"
)

// A reader of lines knows no context, and ends with it; nothing is lost.
func TestBindBufio(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, peer := pipe(t)
		go func() {
			peer.Write([]byte("one\ntw"))
			time.Sleep(time.Minute)
			peer.Write([]byte("o\n"))
		}()
		err := bide.FailAfter(t.Context(), time.Second, func(ctx context.Context) error {
			r := bufio.NewReader(netio.Bind(ctx, c))
			if line, err := r.ReadString('\n'); line != "one\n" || err != nil {
				t.Errorf("read %q, %v", line, err)
			}
			line, err := r.ReadString('\n')
			if line != "tw" {
				t.Errorf("read %q", line)
			}
			return err
		})
		if !errors.As(err, new(*bide.TimeoutError)) {
			t.Error(err)
		}
		if line, err := bufio.NewReader(netio.Bind(t.Context(), c)).ReadString('\n'); line != "o\n" || err != nil {
			t.Errorf("then read %q, %v", line, err)
		}
	})
}

// io.Copy between connections, and from and to a file, moves every byte, and ends with the scope in the middle.
func TestBindCopy(t *testing.T) {
	big := bytes.Repeat([]byte("0123456789abcdef"), 1<<14)
	file := t.TempDir() + "/big"
	if err := os.WriteFile(file, big, 0o600); err != nil {
		t.Fatal(err)
	}
	in, inPeer := loopback(t)
	out, outPeer := loopback(t)
	from, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	s := bide.Open(t.Context())
	defer s.Close(nil)
	sent := make(chan error)
	go func() { // file → inPeer → in → out → outPeer
		_, err := io.Copy(netio.Bind(s, inPeer), from)
		inPeer.(*net.TCPConn).CloseWrite()
		sent <- err
	}()
	go func() {
		_, err := io.Copy(netio.Bind(s, out), netio.Bind(s, in))
		out.(*net.TCPConn).CloseWrite()
		sent <- err
	}()
	var got bytes.Buffer
	if n, err := io.Copy(&got, netio.Bind(s, outPeer)); n != int64(len(big)) || err != nil || !bytes.Equal(got.Bytes(), big) {
		t.Errorf("%d bytes came through, %v", n, err)
	}
	if err := errors.Join(<-sent, <-sent); err != nil {
		t.Error(err)
	}

	// A copy to a peer that takes nothing, and one from a peer that says nothing.
	mine, _ := loopback(t)
	silent, _ := loopback(t)
	v := clock.NewVirtual()
	w := bide.Open(t.Context(), bide.Clock(v), bide.Timeout(time.Second))
	defer w.Close(nil)
	go func() {
		_, err := io.Copy(netio.Bind(w, mine), endless{})
		sent <- err
	}()
	go func() {
		_, err := io.Copy(io.Discard, netio.Bind(w, silent))
		sent <- err
	}()
	v.Advance(time.Second)
	canceled(t, w, <-sent)
	canceled(t, w, <-sent)
}

// While a copy to a connection waits for its source, others write.
func TestBindCopyWaits(t *testing.T) {
	mine, peer := loopback(t)
	c := netio.Bind(t.Context(), mine)
	for _, kind := range []string{"pipe", "file", "part of a file"} {
		var s struct {
			from io.Reader
			feed io.WriteCloser
		}
		if kind == "pipe" {
			s.from, s.feed = io.Pipe()
		} else {
			r, w, err := os.Pipe() // a file that waits, as standard input may
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			if s.from, s.feed = r, w; kind != "file" {
				s.from = io.LimitReader(r, 100)
			}
		}
		copied := make(chan error)
		go func() {
			_, err := io.Copy(c, s.from)
			copied <- err
		}()
		expect := func(want string) {
			t.Helper()
			got := make([]byte, len(want))
			if _, err := io.ReadFull(peer, got); string(got) != want || err != nil {
				t.Fatalf("%s: %q, %v; want %q", kind, got, err, want)
			}
		}
		fmt.Fprint(s.feed, "a")
		expect("a")
		err := bide.FailAfter(t.Context(), time.Minute, func(ctx context.Context) error {
			_, err := netio.Bind(ctx, c).Write([]byte("ping"))
			return err
		})
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		expect("ping")
		fmt.Fprint(s.feed, "b")
		expect("b")
		s.feed.Close()
		if err := <-copied; err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// One connection, bound to one scope after the other, is one Conn.
func TestBindAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, peer := net.Pipe()
		defer peer.Close()
		var c net.Conn = netio.New(a)
		defer c.Close()
		for range 3 {
			s := bide.Open(t.Context(), bide.Timeout(time.Second))
			c = netio.Bind(s, c)
			_, err := c.Read(make([]byte, 1))
			canceled(t, s, err)
			s.Close(nil)
		}
		go peer.Write([]byte("x"))
		if n, err := netio.Bind(t.Context(), c).Read(make([]byte, 1)); n != 1 || err != nil {
			t.Error(n, err)
		}
	})
}

// A peer that drips a byte now and then makes progress by one measure, and not by another.
func TestProgress(t *testing.T) {
	for _, x := range []struct {
		bytes int
		cut   bool
	}{{1, false}, {10, false}, {11, true}, {1000, true}} {
		synctest.Test(t, func(t *testing.T) {
			a, peer := net.Pipe()
			slow := bidetest.NewConn(t.Context(), a)
			slow.Drip(1, time.Second-time.Millisecond) // 10 bytes in each 10 s
			c := netio.New(slow)
			over := make(chan struct{})
			go func() {
				defer close(over)
				peer.Write(bytes.Repeat([]byte("x"), 100))
				peer.Close()
			}()
			var got []byte
			err := bide.Run(t.Context(), func(s *bide.Scope) (err error) {
				got, err = io.ReadAll(netio.BindProgress(s, c, x.bytes))
				return err
			}, bide.Idle(10*time.Second))
			var e *bide.TimeoutError
			if x.cut != errors.As(err, &e) || !x.cut && (err != nil || len(got) != 100) {
				t.Errorf("at least %d bytes in 10 s: %d bytes, %v", x.bytes, len(got), err)
			}
			c.Close()
			<-over
		})
	}
}

// A peer that has gone without a word, with what was written to it, holds nobody for longer than the idle limit.
func TestHalfOpenBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, _ := net.Pipe()
		gone := bidetest.NewConn(t.Context(), a)
		b, client := net.Pipe()
		defer func() { a.Close(); b.Close(); client.Close() }()
		gone.HalfOpen()
		begun := time.Now()
		go client.Write([]byte("are you there?"))
		if err := netio.Pipe(t.Context(), gone, b, time.Minute); !errors.As(err, new(*bide.TimeoutError)) {
			t.Error(err)
		}
		if d := time.Since(begun); d != time.Minute {
			t.Errorf("after %v", d)
		}
	})
}

// A write that was cut off is told as far as it came, and a connection that was reset under a scope is not taken for a
// cancellation.
func TestWrongBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, peer := net.Pipe()
		wrong := bidetest.NewConn(t.Context(), a)
		c := netio.New(wrong)
		defer func() { c.Close(); peer.Close() }()
		go io.Copy(io.Discard, peer)
		s := bide.Open(t.Context(), bide.Timeout(time.Minute))
		defer s.Close(nil)
		wrong.PartialWrite(3, io.ErrShortWrite)
		if n, err := c.WriteContext(s, make([]byte, 10)); n != 3 || err != io.ErrShortWrite {
			t.Error(n, err)
		}
		time.AfterFunc(time.Second, wrong.Reset)
		if n, err := c.ReadContext(s, make([]byte, 10)); n != 0 || !errors.Is(err, syscall.ECONNRESET) || s.Err() != nil {
			t.Error(n, err)
		}
	})
}

// A peer that takes slowly.
func TestProgressWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, peer := pipe(t)
		go func() {
			for range 10 {
				time.Sleep(9 * time.Second)
				io.CopyN(io.Discard, peer, 16<<10)
			}
		}() // and then no more
		err := bide.Run(t.Context(), func(s *bide.Scope) error {
			n, err := netio.BindProgress(s, c, 1).Write(bytes.Repeat([]byte("x"), 1<<20))
			if n != 160<<10 {
				t.Errorf("%d bytes went out", n)
			}
			return err
		}, bide.Idle(10*time.Second))
		if !errors.As(err, new(*bide.TimeoutError)) {
			t.Error(err)
		}
	})
}

// Pipe carries both directions, passes ends on, and ends with the bounds.
func TestPipe(t *testing.T) {
	a, client := loopback(t)
	b, server := loopback(t)
	done := make(chan error)
	go func() { done <- netio.Pipe(t.Context(), a, b, time.Hour) }()
	go func() { // an echo that answers when it has everything
		all, _ := io.ReadAll(server)
		server.Write([]byte(strings.ToUpper(string(all))))
		server.Close()
	}()
	client.Write([]byte("hello"))
	client.(*net.TCPConn).CloseWrite()
	if all, err := io.ReadAll(client); string(all) != "HELLO" || err != nil {
		t.Errorf("got %q, %v", all, err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestPipeBounds(t *testing.T) {
	for _, x := range []struct {
		name        string
		idle, total time.Duration
		talk        bool
		source      bide.Source
		took        time.Duration
	}{
		{"idle", time.Minute, time.Hour, false, bide.ByIdle, time.Minute},
		{"total", time.Minute, time.Hour, true, bide.ByDeadline, time.Hour},
		{"total alone", 0, time.Hour, false, bide.ByDeadline, time.Hour},
	} {
		t.Run(x.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, client := net.Pipe()
				b, server := net.Pipe()
				var others sync.WaitGroup
				defer others.Wait()
				defer func() { a.Close(); b.Close() }()
				others.Go(func() { io.Copy(io.Discard, server) })
				others.Go(func() {
					for x.talk {
						time.Sleep(50 * time.Second)
						if _, err := client.Write([]byte("x")); err != nil {
							return
						}
					}
				})
				start := time.Now()
				var inner error
				err := bide.FailAfter(t.Context(), x.total, func(ctx context.Context) error {
					inner = netio.Pipe(ctx, a, b, x.idle)
					return inner
				})
				if !errors.As(err, new(*bide.TimeoutError)) || time.Since(start) != x.took {
					t.Errorf("%v after %v", err, time.Since(start))
				}
				if idle := errors.As(inner, new(*bide.TimeoutError)); idle != (x.source == bide.ByIdle) {
					t.Errorf("Pipe ended with %v", inner)
				}
			})
		})
	}
}

// Where an end cannot be passed on, it ends the other direction; an error does.
func TestPipeEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, client := net.Pipe()
		b, server := net.Pipe()
		defer func() { a.Close(); b.Close(); server.Close() }()
		time.AfterFunc(time.Second, func() { client.Close() })
		if err := netio.Pipe(t.Context(), a, b, 0); err != nil {
			t.Error(err)
		}
		b.Close()
		server.Close()
		a, client = net.Pipe()
		b, server = net.Pipe()
		defer client.Close()
		time.AfterFunc(time.Second, func() { a.Close() })
		if err := netio.Pipe(t.Context(), a, b, 0); err == nil {
			t.Error("no error of a closed connection")
		}
	})
}

// A write that takes less and says nothing is an error, and not tried for ever.
func TestProgressShortWrite(t *testing.T) {
	err := bide.Run(t.Context(), func(s *bide.Scope) error {
		n, err := netio.BindProgress(s, short{}, 1).Write(make([]byte, 40<<10))
		if n != 10<<10 {
			t.Errorf("%d bytes went out", n)
		}
		return err
	})
	if err != io.ErrShortWrite {
		t.Errorf("error %v", err)
	}
}

type short struct{ still }

func (short) Write(p []byte) (int, error) { return min(len(p), 10<<10), nil }

// Two writes at the same time come one after the other, though they are made in pieces.
func TestProgressWritesInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, peer := pipe(t)
		err := bide.WithNursery(t.Context(), func(ctx context.Context, n *bide.Nursery) error {
			bound := netio.BindProgress(ctx, c, 1)
			for _, b := range []byte("ab") {
				n.Go(func(context.Context) error {
					_, err := bound.Write(bytes.Repeat([]byte{b}, 40<<10))
					return err
				})
			}
			got := make([]byte, 80<<10)
			if _, err := io.ReadFull(peer, got); err != nil {
				return err
			}
			if changes := bytes.Count(got, []byte("ab")) + bytes.Count(got, []byte("ba")); changes != 1 {
				t.Errorf("the writer changes %d times", changes)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// An end that comes before the other connection has shaken hands is told as soon as it has.
func TestPipeEndBeforeHandshake(t *testing.T) {
	server, client := secrets(t)
	a, far := loopback(t)
	b, near := net.Pipe()
	defer b.Close()
	near.Close() // nothing to say
	half := halves{b, make(chan struct{})}
	done := make(chan error)
	go func() { done <- netio.Pipe(t.Context(), tls.Server(a, server), half, time.Hour) }()
	<-half.ended
	c := tls.Client(far, client)
	if n, err := c.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("read %d, %v, want the end", n, err)
	}
	c.CloseWrite()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// halves is a connection that says when it has come to the end of its reading, and whose writing can be ended, in vain.
type halves struct {
	net.Conn
	ended chan struct{}
}

func (h halves) Read(p []byte) (int, error) {
	n, err := h.Conn.Read(p)
	if err == io.EOF {
		close(h.ended)
	}
	return n, err
}

func (halves) CloseWrite() error { return nil }

// A connection's CloseWrite that blocks ends with the bound.
func TestPipeCloseWriteBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, client := net.Pipe()
		b, server := net.Pipe()
		defer server.Close()
		defer b.Close()
		defer a.Close()
		client.Close()
		start := time.Now()
		err := netio.Pipe(t.Context(), a, says{b}, time.Minute)
		if !errors.As(err, new(*bide.TimeoutError)) || time.Since(start) != time.Minute {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}

// says is a connection that ends by a last word, which may block.
type says struct{ net.Conn }

func (s says) CloseWrite() error {
	_, err := s.Write([]byte("bye"))
	return err
}
