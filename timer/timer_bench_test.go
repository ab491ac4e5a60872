package timer_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// kept is a reusable owner as small as one gets: armed is a store of the deadline, if it changed, and of the word.
type kept struct {
	timer.Entry
	due  atomic.Int64
	word atomic.Uint64
}

func newKept() *kept {
	k := new(kept)
	k.Init(k)
	return k
}

func (k *kept) Due(now clock.Instant) (clock.Instant, bool) {
	w := k.word.Load()
	if w&1 == 0 {
		return clock.Forever, false
	}
	if due := clock.Instant(k.due.Load()); due > now {
		return due, false
	}
	return clock.Forever, k.word.CompareAndSwap(w, w&^1)
}

func (k *kept) Fire(clock.Instant) {}

func (k *kept) arm(s *timer.Service, due clock.Instant) uint64 {
	if k.due.Load() != int64(due) {
		k.due.Store(int64(due))
	}
	w := k.word.Load() + 2 | 1
	k.word.Store(w)
	s.Cover(&k.Entry, due)
	return w
}

func (k *kept) resolve(w uint64) bool { return k.word.CompareAndSwap(w, w&^1) }

func nothing() {}

// pendings are the numbers of other timers that are pending meanwhile, an hour or two away.
func pendings(b *testing.B, f func(b *testing.B, n int)) {
	for _, n := range []int{0, 10_000, 1_000_000} {
		if n == 1_000_000 && testing.Short() {
			continue
		}
		b.Run(fmt.Sprintf("pending=%d", n), func(b *testing.B) { f(b, n) })
	}
}

func far(rng *rand.Rand) time.Duration {
	return time.Hour + time.Duration(rng.Int64N(int64(time.Hour)))
}

func withStd(b *testing.B, n int, f func(b *testing.B)) {
	rng := rand.New(rand.NewPCG(1, 2))
	timers := make([]*time.Timer, n)
	for i := range timers {
		timers[i] = time.AfterFunc(far(rng), nothing)
	}
	f(b)
	for _, t := range timers {
		t.Stop()
	}
}

func withOurs(b *testing.B, n int, f func(b *testing.B)) {
	rng := rand.New(rand.NewPCG(1, 2))
	timers := make([]*timer.Timer, n)
	for i := range timers {
		timers[i] = timer.AfterFunc(far(rng), nothing)
	}
	f(b)
	for _, t := range timers {
		t.Stop()
	}
}

// loop is a benchmark of one operation.
func loop(b *testing.B, name string, op func()) {
	b.Run(name, func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			op()
		}
	})
}

// BenchmarkP1 starts a timeout and cancels it. std-… are the anchors: what the standard library offers.
func BenchmarkP1(b *testing.B) {
	const d = time.Minute
	pendings(b, func(b *testing.B, n int) {
		withStd(b, n, func(b *testing.B) {
			loop(b, "std-afterfunc-stop", func() { time.AfterFunc(d, nothing).Stop() })
			t := time.NewTimer(d)
			loop(b, "std-reset-stop", func() { t.Reset(d); t.Stop() })
			loop(b, "std-withtimeout-cancel", func() {
				_, cancel := context.WithTimeout(context.Background(), d)
				cancel()
			})
		})
		withOurs(b, n, func(b *testing.B) {
			s, k := timer.Default(), newKept()
			at := clock.After(d)
			loop(b, "sticky-relative", func() { k.resolve(k.arm(s, clock.After(d))) })
			loop(b, "sticky-absolute", func() { k.resolve(k.arm(s, at)) })
			s.Cancel(&k.Entry)
			loop(b, "eager-relative", func() { s.Schedule(&k.Entry, clock.After(d)); s.Cancel(&k.Entry) })
			loop(b, "eager-absolute", func() { s.Schedule(&k.Entry, at); s.Cancel(&k.Entry) })
			loop(b, "afterfunc-stop", func() { timer.AfterFunc(d, nothing).Stop() })
			t := timer.AfterFunc(d, nothing)
			loop(b, "reset-stop", func() { t.Reset(d); t.Stop() })
		})
	})
}

// BenchmarkP1Parallel is the same from all processors.
func BenchmarkP1Parallel(b *testing.B) {
	const d = time.Minute
	parallel := func(name string, op func() func()) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for op := op(); pb.Next(); {
					op()
				}
			})
		})
	}
	s, at := timer.Default(), clock.After(time.Hour)
	parallel("std-afterfunc-stop", func() func() { return func() { time.AfterFunc(d, nothing).Stop() } })
	parallel("std-reset-stop", func() func() {
		t := time.NewTimer(d)
		return func() { t.Reset(d); t.Stop() }
	})
	parallel("sticky-relative", func() func() {
		k := newKept()
		return func() { k.resolve(k.arm(s, clock.After(d))) }
	})
	parallel("sticky-absolute", func() func() {
		k := newKept()
		return func() { k.resolve(k.arm(s, at)) }
	})
	parallel("eager-relative", func() func() {
		k := newKept()
		return func() { s.Schedule(&k.Entry, clock.After(d)); s.Cancel(&k.Entry) }
	})
	parallel("afterfunc-stop", func() func() { return func() { timer.AfterFunc(d, nothing).Stop() } })
}

// BenchmarkP2 pushes an idle timeout back, as a connection does at every read.
func BenchmarkP2(b *testing.B) {
	const d = time.Minute
	t := time.AfterFunc(d, nothing)
	loop(b, "std-reset", func() { t.Reset(d) })
	t.Stop()

	c, done := loopback(b)
	loop(b, "std-setreaddeadline", func() { c.SetReadDeadline(time.Now().Add(d)) })
	done()

	s, k := timer.Default(), newKept()
	k.arm(s, clock.After(d))
	loop(b, "sticky-relative", func() { k.arm(s, clock.After(d)) })
	at := clock.After(d)
	loop(b, "sticky-absolute", func() { k.arm(s, at) })
	s.Cancel(&k.Entry)

	tm := timer.AfterFunc(d, nothing)
	loop(b, "reset", func() { tm.Reset(d) })
	tm.Stop()
}

// loopback is one end of a TCP connection on this machine.
func loopback(b *testing.B) (c net.Conn, done func()) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	c, err = net.Dial("tcp", l.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	peer, err := l.Accept()
	if err != nil {
		b.Fatal(err)
	}
	return c, func() {
		c.Close()
		peer.Close()
		l.Close()
	}
}

// BenchmarkP2Cold does it for a million connections in turn, in an order that no cache foresees.
func BenchmarkP2Cold(b *testing.B) {
	const d = time.Hour
	n := 1_000_000
	if testing.Short() {
		n = 10_000
	}
	order := rand.New(rand.NewPCG(1, 2)).Perm(n)
	i := 0
	next := func() int {
		if i++; i == n {
			i = 0
		}
		return order[i]
	}
	std := make([]*time.Timer, n)
	for i := range std {
		std[i] = time.AfterFunc(d, nothing)
	}
	loop(b, "std-reset", func() { std[next()].Reset(d) })
	for _, t := range std {
		t.Stop()
	}

	s, ours := timer.Default(), make([]*kept, n)
	for i := range ours {
		ours[i] = newKept()
		ours[i].arm(s, clock.After(d))
	}
	loop(b, "sticky-relative", func() { ours[next()].arm(s, clock.After(d)) })
	at := clock.After(d)
	loop(b, "sticky-absolute", func() { at++; ours[next()].arm(s, at) })
	for _, k := range ours {
		s.Cancel(&k.Entry)
	}
}
