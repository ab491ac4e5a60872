package rows

import (
	"net"
	"time"

	"bide.invalid/bide/bench/internal/pair"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// P2: an idle timeout is pushed back at every operation; one whose memory is at hand, and one of a million
// connections, in an order that no cache foresees. The timeout is the same each time, as it is for connections; with
// one that differs every second push goes earlier, and that is shown as well.
var p2 = pair.Row{
	Name: "P2", Title: "push an idle timeout back",
	Run: func(r *pair.Run) error {
		if err := warmP2(r); err != nil {
			return err
		}
		coldP2(r, r.Scale(1_000_000))
		return nil
	},
	Lines: []pair.Line{
		{Case: "relative", Ours: "relative", Rival: "SetReadDeadline", Of: pair.Ns, Target: pair.AtLeast(4)},
		{Case: "relative", Ours: "relative", Rival: "Timer.Reset", Of: pair.Ns},
		{Case: "absolute", Ours: "absolute", Rival: "SetReadDeadline", Of: pair.Ns},
		{Case: "absolute", Ours: "absolute", Rival: "Timer.Reset", Of: pair.Ns},
		{Case: "timer.Timer", Ours: "timer.Timer.Reset", Rival: "Timer.Reset", Of: pair.Ns},
		{Case: "relative, 1M cold", Ours: "relative@cold", Rival: "Timer.Reset@cold", Of: pair.Ns, Target: pair.AtLeast(2)},
		{Case: "absolute, 1M cold", Ours: "absolute@cold", Rival: "Timer.Reset@cold", Of: pair.Ns, Target: pair.AtLeast(4)},
		{Case: "random timeouts, 1M cold", Ours: "random@cold", Rival: "Timer.Reset, random@cold", Of: pair.Ns},
	},
}

func warmP2(r *pair.Run) error {
	conn, closeConn, err := loopback()
	if err != nil {
		return err
	}
	defer closeConn()
	std := time.AfterFunc(minute, nothing)
	defer std.Stop()
	s, k := timer.Default(), newKept()
	defer s.Cancel(&k.Entry)
	ours := timer.AfterFunc(minute, nothing)
	defer ours.Stop()
	for r.Next() {
		r.Op("SetReadDeadline", func(n int) {
			for range n {
				err = conn.SetReadDeadline(time.Now().Add(minute))
			}
		})
		if err != nil {
			return err
		}
		r.Op("relative", func(n int) {
			for range n {
				k.arm(s, clock.After(minute))
			}
		})
		r.Op("Timer.Reset", func(n int) {
			for range n {
				std.Reset(minute)
			}
		})
		at := clock.After(minute)
		r.Op("absolute", func(n int) {
			for range n {
				k.arm(s, at)
			}
		})
		r.Op("timer.Timer.Reset", func(n int) {
			for range n {
				ours.Reset(minute)
			}
		})
	}
	return nil
}

// loopback is one end of a TCP connection on this machine.
func loopback() (c net.Conn, done func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	defer l.Close()
	if c, err = net.Dial("tcp", l.Addr().String()); err != nil {
		return nil, nil, err
	}
	peer, err := l.Accept()
	if err != nil {
		c.Close()
		return nil, nil, err
	}
	return c, func() {
		c.Close()
		peer.Close()
	}, nil
}

// A conn is what an operation is on: it has been touched when its timeout is pushed back. Ours lies in it; the
// runtime's timer is an object of its own, and the connection points to it. Two cache lines, one for each side.
type conn struct {
	kept
	std *time.Timer
	_   [56]byte
}

// coldP2: both millions stay pending all the time. Nothing here allocates, so the collector does not meet them, and
// what is pending on one side is not visited by the other.
func coldP2(r *pair.Run, n int) {
	rng := dice()
	order := rng.Perm(n)
	i := 0
	s, conns := timer.Default(), make([]conn, n)
	next := func() *conn {
		if i++; i >= n {
			i = 0
		}
		return &conns[order[i]]
	}
	for i := range conns {
		c := &conns[i]
		c.std = time.AfterFunc(time.Hour, nothing)
		c.Init(&c.kept)
		c.arm(s, clock.After(time.Hour))
	}
	for r.Next() {
		r.Op("Timer.Reset@cold", func(n int) {
			for range n {
				next().std.Reset(time.Hour)
			}
		})
		r.Op("relative@cold", func(n int) {
			for range n {
				next().arm(s, clock.After(time.Hour))
			}
		})
		at := clock.After(time.Hour)
		r.Op("absolute@cold", func(n int) {
			for range n {
				at++ // connections do not share their deadline to the nanosecond
				next().arm(s, at)
			}
		})
	}
	// In rounds of its own: what a random timeout leaves filed is not where a constant one finds its place.
	random := make([]time.Duration, 1<<12)
	for i := range random {
		random[i] = far(rng)
	}
	for r.Next() {
		r.Op("Timer.Reset, random@cold", func(n int) {
			for i := range n {
				next().std.Reset(random[i%len(random)])
			}
		})
		r.Op("random@cold", func(n int) {
			for i := range n {
				next().arm(s, clock.After(random[i%len(random)]))
			}
		})
	}
	for i := range conns {
		conns[i].std.Stop()
		s.Cancel(&conns[i].Entry)
	}
}
