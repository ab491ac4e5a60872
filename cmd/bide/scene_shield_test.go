package main

import (
	"context"
	"testing"

	"bide.invalid/bide"
)

func TestShield(t *testing.T) { testScene(t, shieldScene()) }

func TestShieldVerdict(t *testing.T) {
	for _, c := range []struct {
		name string
		hurt func(*shieldMeasure)
		want string
	}{
		{"kept", func(*shieldMeasure) {}, ""},
		{"work early", func(m *shieldMeasure) { m.work.took = m.work.due - 1 }, "work ended 0.000001 ms early"},
		{"work late", func(m *shieldMeasure) { m.work.took = m.work.due + forgiven + 1 }, "work ended 500.000001 ms late"},
		{"goodbye canceled too", func(m *shieldMeasure) { m.goodbyeErr, m.goodbye.took = context.Canceled, 0 }, "the goodbye, 150 ms long, was cut within its grace of 1000 ms: context canceled"},
		{"goodbye early", func(m *shieldMeasure) { m.goodbye.took = m.goodbye.due - 1 }, "goodbye ended 0.000001 ms early"},
		{"stuck one early", func(m *shieldMeasure) { m.stuck.took = m.stuck.due - 1 }, "stuck goodbye ended 0.000001 ms early"},
		{"stuck one late", func(m *shieldMeasure) { m.stuck.took = m.stuck.due + forgiven + 1 }, "stuck goodbye ended 500.000001 ms late"},
		{"cut in silence", func(m *shieldMeasure) { m.stuckErr = nil }, "the shield of the stuck goodbye returned <nil>"},
		{"cut by another", func(m *shieldMeasure) { m.stuckErr = m.after }, "the shield of the stuck goodbye returned bide: canceled by deadline"},
		{"another's name", func(m *shieldMeasure) { m.stuckErr = &bide.TimeoutError{Scope: "work"} }, `names "work", not the shield`},
		{"not canceled any more", func(m *shieldMeasure) { m.after = nil }, "after its shields the work was not canceled any more"},
		{"no timeout", func(m *shieldMeasure) { m.err = nil }, "the bound around all returned <nil>"},
	} {
		m := shieldMeasure{
			work:     span{"work", shieldBound, shieldBound + 1},
			goodbye:  span{"goodbye", shieldGoodbye, shieldGoodbye + 1},
			stuck:    span{"stuck goodbye", shieldCut, shieldCut + 1},
			stuckErr: &bide.TimeoutError{Scope: "goodbye"},
			after:    &bide.Canceled{Source: bide.ByDeadline},
			err:      &bide.TimeoutError{},
		}
		c.hurt(&m)
		testVerdict(t, c.name, m, c.want)
	}
}
