package main

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"bide.invalid/bide"
)

// forgive allows any lateness, until the test is over: it is the machine's.
func forgive(t *testing.T) {
	usual := forgiven
	forgiven = time.Minute
	t.Cleanup(func() { forgiven = usual })
}

// No bubble holds processes: this one is played in real time.
func TestChildRealTime(t *testing.T) {
	forgive(t)
	m := playChild(t.Context())
	if errors.Is(m.setup, errors.ErrUnsupported) {
		t.Skipf("SKIPPED: %v", m.setup)
	}
	for _, fault := range m.verdict() {
		t.Error(fault)
	}
}

func TestChildVerdict(t *testing.T) {
	for _, c := range []struct {
		name string
		hurt func(*childMeasure)
		want string
	}{
		{"kept", func(*childMeasure) {}, ""},
		{"early", func(m *childMeasure) { m.ended.took = m.ended.due - 1 }, "it ended 0.000001 ms early"},
		{"late", func(m *childMeasure) { m.ended.took = m.ended.due + forgiven + 1 }, "it ended 500.000001 ms late"},
		{"no timeout", func(m *childMeasure) { m.err = nil }, "Run returned <nil>"},
		{"not reaped", func(m *childMeasure) { m.reaped = false }, "the child was not reaped"},
		{"survivors", func(m *childMeasure) { m.survivors = true }, "something of the tree lives on"},
		{"not played", func(m *childMeasure) { m.setup = errors.New("no") }, "it could not be played: no"},
		{"not on this system", func(m *childMeasure) { m.setup = fmt.Errorf("x: %w", errors.ErrUnsupported) }, ""},
	} {
		m := childMeasure{ended: span{"", childBound + childGrace, childBound + childGrace + 1}, err: &bide.TimeoutError{}, reaped: true}
		c.hurt(&m)
		testVerdict(t, c.name, m, c.want)
		if len(m.story()) == 0 || m.setup == nil && len(m.spans()) == 0 {
			t.Errorf("%s: story %q, spans %v", c.name, m.story(), m.spans())
		}
	}
}

func TestAwait(t *testing.T) {
	calls := 0
	a := &await{text: "ready\n", call: func() { calls++ }}
	for _, s := range []string{"x re", "ady", "\n", "ready\n"} {
		if n, err := a.Write([]byte(s)); n != len(s) || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	}
	if calls != 1 {
		t.Errorf("called %d times", calls)
	}
}
