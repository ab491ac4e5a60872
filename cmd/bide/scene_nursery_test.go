package main

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"bide.invalid/bide"
)

func TestNursery(t *testing.T) { testScene(t, nurseryScene()) }

func TestNurseryVerdict(t *testing.T) {
	failed := errors.New("price: connection refused")
	told := &bide.Canceled{Source: bide.BySibling, Reason: failed}
	for _, c := range []struct {
		name string
		hurt func(*nurseryMeasure)
		want string
	}{
		{"kept", func(*nurseryMeasure) {}, ""},
		{"wrapped", func(m *nurseryMeasure) { m.told[2] = fmt.Errorf("stock: %w", told) }, ""},
		{"told early", func(m *nurseryMeasure) { m.heard.took = m.heard.due - 1 }, "early"},
		{"told late", func(m *nurseryMeasure) { m.heard.took = m.heard.due + forgiven + 1 }, "late"},
		{"a child missing", func(m *nurseryMeasure) { m.ended = 3 }, "WithNursery returned when 3 of 4 children had ended"},
		{"a sibling not told", func(m *nurseryMeasure) { m.told = m.told[:2] }, "2 of 3 siblings were told"},
		{"nobody told", func(m *nurseryMeasure) { m.told, m.heard.took = nil, 0 }, "0 of 3 siblings were told"},
		{"no error", func(m *nurseryMeasure) { m.err = nil }, "WithNursery returned <nil>"},
		{"an equal error", func(m *nurseryMeasure) { m.err = errors.New(failed.Error()) }, "not the very error"},
		{"a wrapped error", func(m *nurseryMeasure) { m.err = fmt.Errorf("nursery: %w", failed) }, "not the very error"},
		{"told nothing", func(m *nurseryMeasure) { m.told[1] = nil }, "a sibling was told <nil>"},
		{"told by std", func(m *nurseryMeasure) { m.told[1] = context.Canceled }, "a sibling was told context canceled"},
		{"told by the body", func(m *nurseryMeasure) { m.told[1] = &bide.Canceled{Source: bide.ByBody, Reason: failed} }, "canceled by body"},
		{"told no reason", func(m *nurseryMeasure) { m.told[1] = &bide.Canceled{Source: bide.BySibling} }, "canceled by sibling"},
	} {
		m := nurseryMeasure{
			heard:  span{due: nurseryFails, took: nurseryFails + 1},
			told:   []error{told, told, told},
			ended:  4,
			failed: failed,
			err:    failed,
		}
		c.hurt(&m)
		testVerdict(t, c.name, m, c.want)
	}
}
