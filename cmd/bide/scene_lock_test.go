package main

import (
	"context"
	"testing"
)

func TestLock(t *testing.T) { testScene(t, lockScene()) }

func TestLockVerdict(t *testing.T) {
	for _, c := range []struct {
		name string
		hurt func(*lockMeasure)
		want string
	}{
		{"kept", func(*lockMeasure) {}, ""},
		{"early", func(m *lockMeasure) { m.wait.took = m.wait.due - 1 }, "early"},
		{"late", func(m *lockMeasure) { m.wait.took = m.wait.due + forgiven + 1 }, "late"},
		{"no error", func(m *lockMeasure) { m.err, m.clean = nil, false }, "Lock returned nil, while somebody else holds the lock"},
		{"wrong error", func(m *lockMeasure) { m.err = context.DeadlineExceeded }, "Lock returned context deadline exceeded"},
		{"taken all the same", func(m *lockMeasure) { m.clean = false }, "not free once its holder had released it"},
	} {
		m := keptLock
		c.hurt(&m)
		testVerdict(t, c.name, m, c.want)
	}
}
