package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"bide.invalid/bide"
)

func legacyScene() scene {
	return scene{
		name:    "legacy",
		trouble: "Old code knows only package context, and makes chains of it below what it is given.",
		code:    "err := bide.FailAfter(ctx, " + inGo(legacyBound) + ", oldCode, bide.Name(\"request\"))",
		play:    func(ctx context.Context) measure { return playLegacy(ctx) },
	}
}

const (
	legacyBound  = 200 * time.Millisecond
	legacyChains = 100
)

type legacyMeasure struct {
	ended      span // until the last chain was canceled
	goroutines int  // that were not there before, with all chains live
	otherErrs  int  // chains whose Err is not context.DeadlineExceeded
	otherWhys  int  // chains whose context.Cause is not why
	why        error
	err        error
}

func playLegacy(ctx context.Context) legacyMeasure {
	m := legacyMeasure{ended: span{due: legacyBound}}
	before := runtime.NumGoroutine()
	start := time.Now()
	m.err = bide.FailAfter(ctx, legacyBound, func(ctx context.Context) error {
		var ends []context.Context
		for range legacyChains {
			end, stop := chain(ctx)
			defer stop()
			ends = append(ends, end)
		}
		m.goroutines = goroutinesOver(before)
		for _, end := range ends {
			<-end.Done()
		}
		m.ended.took = time.Since(start)
		m.why = bide.From(ctx).Cause()
		for _, end := range ends {
			if end.Err() != context.DeadlineExceeded {
				m.otherErrs++
			}
			if context.Cause(end) != m.why {
				m.otherWhys++
			}
		}
		return ends[0].Err()
	}, bide.Name("request"))
	return m
}

// chain is what old code does with a context.
func chain(ctx context.Context) (end context.Context, stop func()) {
	type key struct{}
	ctx = context.WithValue(ctx, key{}, "a value")
	ctx, cancel := context.WithCancel(ctx)
	end, cancelEnd := context.WithTimeout(ctx, time.Minute)
	return end, func() { cancelEnd(); cancel() }
}

// goroutinesOver says how many goroutines there are beyond so many, and stay: those that are about to end get a moment.
func goroutinesOver(before int) (over int) {
	for range 50 {
		if over = runtime.NumGoroutine() - before; over <= 0 {
			return 0
		}
		time.Sleep(time.Millisecond)
	}
	return over
}

func (m legacyMeasure) spans() []span { return []span{m.ended} }

func (m legacyMeasure) story() []string {
	return []string{
		fmt.Sprintf("%d live chains of WithValue, WithCancel, WithTimeout: %d goroutines. All of them can say why:", legacyChains, m.goroutines),
		m.why.Error(),
	}
}

func (m legacyMeasure) verdict() []string {
	broken := m.ended.verdict()
	if m.goroutines > 0 {
		broken = append(broken, fmt.Sprintf("%d live chains cost %d goroutines, where none is due", legacyChains, m.goroutines))
	}
	if m.otherErrs > 0 {
		broken = append(broken, fmt.Sprintf("in %d of %d chains Err is not context.DeadlineExceeded", m.otherErrs, legacyChains))
	}
	if m.otherWhys > 0 {
		broken = append(broken, fmt.Sprintf("in %d of %d chains context.Cause is not the scope's: %v", m.otherWhys, legacyChains, m.why))
	}
	var c *bide.Canceled
	if !errors.As(m.why, &c) || c.Source != bide.ByDeadline || c.Scope != "request" {
		broken = append(broken, fmt.Sprintf("the cause is %v, not the deadline of the scope named request", m.why))
	}
	return append(broken, timedOut("FailAfter around old code", m.err)...)
}
