package rows

import (
	"context"
	"time"

	"bide.invalid/bide/bench/internal/pair"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// P1: a timeout is started and canceled, while others are pending. A reusable owner does it from a duration, and from
// a deadline that is known; AfterFunc is for code that wants a function called.
var p1 = pair.Row{
	Name: "P1", Title: "start and cancel a timeout", Quick: true,
	Run:   runP1,
	Lines: linesP1(),
}

var pendings = []struct {
	n    int
	text string
}{{0, "none pending"}, {10_000, "10k pending"}, {1_000_000, "1M pending"}}

const (
	stdAfterFunc = "time.AfterFunc+Stop"
	stdReset     = "Timer.Reset+Stop"
	stdContext   = "WithTimeout+cancel"
	relative     = "relative"
	absolute     = "absolute"
	eager        = "Schedule+Cancel"
	afterFunc    = "timer.AfterFunc+Stop"
	alone        = "@the same turn, before the others are made"
)

func linesP1() []pair.Line {
	var lines []pair.Line
	for _, p := range pendings {
		at := "@" + p.text
		fast := 3.5
		if p.n == 1_000_000 {
			fast = 4.5
		}
		add := func(ours, rival string, of pair.Metric, t pair.Target) {
			if rival != "" {
				rival += at
			}
			lines = append(lines, pair.Line{Case: ours + ", " + p.text, Ours: ours + at, Rival: rival, Of: of, Target: t})
		}
		add(relative, stdAfterFunc, pair.Ns, pair.AtLeast(fast))
		add(relative, stdReset, pair.Ns, pair.Target{})
		add(relative, stdContext, pair.Ns, pair.Target{})
		add(relative, "", pair.Bytes, pair.AtMost(0))
		add(absolute, stdAfterFunc, pair.Ns, pair.AtLeast(15))
		add(absolute, stdReset, pair.Ns, pair.AtLeast(5))
		add(absolute, "", pair.Bytes, pair.AtMost(0))
		add(eager, stdAfterFunc, pair.Ns, pair.Target{})
		add(afterFunc, stdAfterFunc, pair.Ns, pair.AtLeast(1.4))
		add(afterFunc, "", pair.Allocs, pair.AtMost(1))
		add(afterFunc, stdAfterFunc, pair.Bytes, pair.Target{})
	}
	for _, ours := range []string{relative, absolute, afterFunc} {
		lines = append(lines, pair.Line{Case: ours + ", 1M pending against none", Ours: ours + "@1M pending",
			Rival: ours + alone, Of: pair.Ns, Target: pair.Within(1.2)})
	}
	return lines
}

func runP1(r *pair.Run) error {
	// What a million leave behind (the runtime's array of timers) stays: it comes last.
	for _, p := range pendings {
		n, at := r.Scale(p.n), "@"+p.text
		if p.n == 0 {
			n = 0
		}
		for r.Next() {
			stop := stdPending(n)
			stdP1(r, at)
			stop()
			if p.n == 1_000_000 {
				oursP1(r, alone)
			}
			stop = ourPending(n)
			oursP1(r, at)
			stop()
		}
	}
	return nil
}

const minute = time.Minute

func stdP1(r *pair.Run, at string) {
	r.Op(stdAfterFunc+at, func(n int) {
		for range n {
			time.AfterFunc(minute, nothing).Stop()
		}
	})
	t := time.AfterFunc(minute, nothing) // Reset of one with a channel is slower
	r.Op(stdReset+at, func(n int) {
		for range n {
			t.Reset(minute)
			t.Stop()
		}
	})
	if r.Quick() {
		return
	}
	r.Op(stdContext+at, func(n int) {
		for range n {
			_, cancel := context.WithTimeout(context.Background(), minute)
			cancel()
		}
	})
}

func oursP1(r *pair.Run, at string) {
	s, k := timer.Default(), newKept()
	due := clock.After(minute)
	r.Op(relative+at, func(n int) {
		for range n {
			k.resolve(k.arm(s, clock.After(minute)))
		}
	})
	r.Op(absolute+at, func(n int) {
		for range n {
			k.resolve(k.arm(s, due))
		}
	})
	s.Cancel(&k.Entry)
	if at != alone && !r.Quick() {
		r.Op(eager+at, func(n int) {
			for range n {
				s.Schedule(&k.Entry, clock.After(minute))
				s.Cancel(&k.Entry)
			}
		})
	}
	r.Op(afterFunc+at, func(n int) {
		for range n {
			timer.AfterFunc(minute, nothing).Stop()
		}
	})
}
