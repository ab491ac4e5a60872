package main

import (
	"context"
	"runtime"
	"testing"

	"bide.invalid/bide"
)

func TestLegacy(t *testing.T) { testScene(t, legacyScene()) }

func TestLegacyVerdict(t *testing.T) {
	for _, c := range []struct {
		name string
		hurt func(*legacyMeasure)
		want string
	}{
		{"kept", func(*legacyMeasure) {}, ""},
		{"early", func(m *legacyMeasure) { m.ended.took = m.ended.due - 1 }, "early"},
		{"late", func(m *legacyMeasure) { m.ended.took = m.ended.due + forgiven + 1 }, "late"},
		{"a goroutine each", func(m *legacyMeasure) { m.goroutines = 100 }, "100 live chains cost 100 goroutines"},
		{"a goroutine for all", func(m *legacyMeasure) { m.goroutines = 1 }, "100 live chains cost 1 goroutines"},
		{"wrong Err", func(m *legacyMeasure) { m.otherErrs = 1 }, "in 1 of 100 chains Err is not context.DeadlineExceeded"},
		{"wrong cause", func(m *legacyMeasure) { m.otherWhys = 2 }, "in 2 of 100 chains context.Cause is not the scope's"},
		{"no cause", func(m *legacyMeasure) { m.why = nil }, "the cause is <nil>"},
		{"std's cause", func(m *legacyMeasure) { m.why = context.DeadlineExceeded }, "the cause is context deadline exceeded"},
		{"another scope", func(m *legacyMeasure) { m.why = &bide.Canceled{Source: bide.ByDeadline, Scope: "x"} }, "not the deadline of the scope named request"},
		{"not a deadline", func(m *legacyMeasure) { m.why = &bide.Canceled{Source: bide.ByCancel, Scope: "request"} }, "the cause is bide: canceled by cancel"},
		{"no timeout", func(m *legacyMeasure) { m.err = context.DeadlineExceeded }, "FailAfter around old code returned context deadline exceeded"},
	} {
		m := legacyMeasure{
			ended: span{due: legacyBound, took: legacyBound + 1},
			why:   &bide.Canceled{Source: bide.ByDeadline, Scope: "request"},
			err:   &bide.TimeoutError{Scope: "request"},
		}
		c.hurt(&m)
		testVerdict(t, c.name, m, c.want)
	}
}

func TestGoroutinesOver(t *testing.T) {
	before := runtime.NumGoroutine()
	stop := make(chan struct{})
	for range 100 {
		go func() { <-stop }()
	}
	if got := goroutinesOver(before); got < 50 { // an earlier test's may end meanwhile
		t.Errorf("%d more goroutines, want 100", got)
	}
	close(stop)
	for runtime.NumGoroutine() > before {
		runtime.Gosched()
	}
	if got := goroutinesOver(before); got != 0 {
		t.Errorf("%d more goroutines, want none", got)
	}
}
