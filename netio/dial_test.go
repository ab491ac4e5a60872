package netio_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/netio"
)

// An attempt takes so long, and then succeeds or fails.
type attempt struct {
	after time.Duration
	err   error
}

var errRefused = errors.New("refused")

// A stage plays attempts, and notes when each began and to what address.
type stage struct {
	attempts []attempt
	start    time.Time
	mu       sync.Mutex
	began    []time.Duration
	addrs    []string
	open     int // connections that nobody has closed
}

func (s *stage) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	s.mu.Lock()
	i := len(s.began)
	s.began = append(s.began, time.Since(s.start))
	s.addrs = append(s.addrs, addr)
	s.mu.Unlock()
	a := s.attempts[i]
	if err := bide.Sleep(ctx, a.after); err != nil {
		return nil, err
	}
	if a.err != nil {
		return nil, fmt.Errorf("attempt %d: %w", i, a.err)
	}
	s.mu.Lock()
	s.open++
	s.mu.Unlock()
	return &standing{stage: s, n: i}, nil
}

// six and four addresses, the way a resolver sorts them.
func lookup(n int) func(ctx context.Context, network, host string) ([]netip.Addr, error) {
	return func(ctx context.Context, network, host string) (ips []netip.Addr, err error) {
		for i := range (n + 1) / 2 {
			ips = append(ips, netip.MustParseAddr(fmt.Sprintf("2001:db8::%d", i)))
		}
		for i := range n / 2 {
			ips = append(ips, netip.MustParseAddr(fmt.Sprintf("192.0.2.%d", i)))
		}
		return ips, nil
	}
}

type standing struct {
	net.Conn
	stage *stage
	n     int
}

func (s *standing) Close() error {
	s.stage.mu.Lock()
	defer s.stage.mu.Unlock()
	s.stage.open--
	return nil
}

// Who wins, when, and when each attempt begins: the table of item 109.
func TestHappyEyeballs(t *testing.T) {
	const s = time.Second
	const ms = time.Millisecond
	for _, x := range []struct {
		name     string
		attempts []attempt
		winner   int // -1: nobody
		at       time.Duration
		began    []time.Duration
	}{
		{"the third is fast", []attempt{{s, nil}, {s, nil}, {200 * ms, nil}}, 2, 700 * ms, []time.Duration{0, 250 * ms, 500 * ms}},
		{"the second is fast", []attempt{{s, nil}, {100 * ms, nil}, {200 * ms, nil}}, 1, 350 * ms, []time.Duration{0, 250 * ms}},
		{"an error starts the next", []attempt{{100 * ms, errRefused}, {200 * ms, errRefused}, {10 * s, nil}, {250 * ms, nil}}, 3, 800 * ms,
			[]time.Duration{0, 100 * ms, 300 * ms, 550 * ms}},
		{"all fail", []attempt{{400 * ms, errRefused}, {100 * ms, errRefused}, {30 * ms, errRefused}}, -1, 400 * ms,
			[]time.Duration{0, 250 * ms, 350 * ms}},
		{"the bound", []attempt{{10 * s, nil}, {10 * s, nil}}, -1, 5 * s, []time.Duration{0, 250 * ms}},
	} {
		t.Run(x.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				stage := &stage{attempts: x.attempts, start: time.Now()}
				d := netio.Dialer{Dial: stage.dial, Lookup: lookup(len(x.attempts))}
				var c net.Conn
				moved, err := bide.MoveOnAfter(t.Context(), 5*time.Second, func(ctx context.Context) (err error) {
					c, err = d.DialContext(ctx, "tcp", "db.example:5432")
					return err
				})
				if took := time.Since(stage.start); took != x.at {
					t.Errorf("over after %v, want %v", took, x.at)
				}
				if !slices.Equal(stage.began, x.began) {
					t.Errorf("attempts began at %v, want %v", stage.began, x.began)
				}
				for i, a := range stage.addrs {
					if six := strings.HasPrefix(a, "["); six != (i%2 == 0) || !strings.HasSuffix(a, ":5432") {
						t.Errorf("attempt %d was to %s: the families are not in turns, or the port is wrong", i, a)
					}
				}
				if x.winner >= 0 {
					if err != nil || c.(*standing).n != x.winner {
						t.Errorf("winner %v, %v, want %d", c, err, x.winner)
					}
					c.Close()
				} else if moved != (x.at == 5*s) || !moved && !errors.Is(err, errRefused) {
					t.Errorf("moved %v, error %v", moved, err)
				} else if !moved && err.Error() != "attempt 1: refused\nattempt 2: refused\nattempt 0: refused" {
					t.Errorf("error %q, want that of each, in the order of failure", err)
				}
				if stage.open != 0 {
					t.Errorf("%d connections are open", stage.open)
				}
			})
		})
	}
}

// Two that stand in the same instant: one is returned, the other closed.
func TestDialTie(t *testing.T) {
	for range 50 {
		synctest.Test(t, func(t *testing.T) {
			stage := &stage{attempts: []attempt{{500 * time.Millisecond, nil}, {250 * time.Millisecond, nil}}, start: time.Now()}
			d := netio.Dialer{Dial: stage.dial, Lookup: lookup(2)}
			c, err := d.DialContext(t.Context(), "tcp", "db.example:1")
			if err != nil || stage.open != 1 {
				t.Fatalf("%v, %d are open", err, stage.open)
			}
			c.Close()
		})
	}
}

func TestDialErrors(t *testing.T) {
	d := netio.Dialer{Lookup: func(ctx context.Context, network, host string) ([]netip.Addr, error) { return nil, nil }}
	for addr, want := range map[string]string{
		"nowhere":        `bide/netio: dial tcp "nowhere": address nowhere: missing port in address: write host:port`,
		"db.example:432": `bide/netio: dial tcp "db.example:432": the name has no address`,
	} {
		if _, err := d.DialContext(t.Context(), "tcp", addr); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", addr, err, want)
		}
	}
	s := bide.Open(t.Context())
	defer s.Close(nil)
	s.Cancel(errTest)
	_, err := netio.Dial(s, "tcp", "127.0.0.1:1")
	canceled(t, s, err)
	if _, err := netio.Dial(t.Context(), "unix", t.TempDir()+"/no"); err == nil {
		t.Error("connected to no socket")
	}
}

// A lookup that hangs is bounded, and its error is the context's.
func TestDialLookup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := netio.Dialer{Lookup: func(ctx context.Context, network, host string) ([]netip.Addr, error) {
			<-ctx.Done()
			return nil, &net.DNSError{Err: ctx.Err().Error(), Name: host, IsTimeout: true}
		}}
		err := bide.FailAfter(t.Context(), time.Second, func(ctx context.Context) error {
			_, err := d.DialContext(ctx, "tcp4", "db.example:1")
			canceled(t, ctx, err)
			return err
		}, bide.Name("connect"))
		if e := new(bide.TimeoutError); !errors.As(err, &e) || e.Scope != "connect" {
			t.Errorf("the scope ended with %v", err)
		}
	})
}

// A Dial that returns nothing at all has failed.
func TestDialNothing(t *testing.T) {
	d := netio.Dialer{Dial: func(context.Context, string, string) (net.Conn, error) { return nil, nil }}
	c, err := d.DialContext(t.Context(), "tcp", "127.0.0.1:1")
	if want := `bide/netio: dial tcp "127.0.0.1:1": Dialer.Dial returned neither a connection nor an error`; c != nil || err == nil || err.Error() != want {
		t.Errorf("%v, %v, want %s", c, err, want)
	}
}

// Literals, zones and ports by name are handed on as they are; nothing is looked up for them.
func TestDialAddresses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // in real time an attempt that takes long is not the only one
		var got []string
		d := netio.Dialer{
			Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
				got = append(got, network+" "+addr)
				return still{}, nil
			},
			Lookup: func(ctx context.Context, network, host string) ([]netip.Addr, error) {
				got = append(got, network+" "+host)
				return []netip.Addr{netip.MustParseAddr("fe80::1%eth0"), netip.MustParseAddr("::ffff:192.0.2.1")}, nil
			},
			Delay: -1,
		}
		for _, x := range []struct{ network, addr, want string }{
			{"tcp", "192.0.2.1:80", "tcp 192.0.2.1:80"},
			{"tcp6", "[fe80::1%eth0]:http", "tcp6 [fe80::1%eth0]:http"},
			{"udp", ":53", "udp :53"},
			{"unix", "/run/x", "unix /run/x"},
			{"tcp", "db.example:http", "ip db.example, tcp [fe80::1%eth0]:http"},
			{"udp4", "db.example:53", "ip4 db.example, udp4 [fe80::1%eth0]:53"},
		} {
			got = nil
			if _, err := d.DialContext(t.Context(), x.network, x.addr); err != nil || strings.Join(got, ", ") != x.want {
				t.Errorf("%s %s: %q, %v, want %q", x.network, x.addr, got, err, x.want)
			}
		}
	})
}
