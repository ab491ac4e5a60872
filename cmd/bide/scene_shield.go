package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"bide.invalid/bide"
)

func shieldScene() scene {
	return scene{
		name:    "shield",
		trouble: "Work is canceled, but its goodbye must still be sent. And what if that hangs?",
		code:    "err := bide.Shield(ctx, grace, goodbye)",
		play:    func(ctx context.Context) measure { return playShield(ctx) },
	}
}

const (
	shieldBound   = 100 * time.Millisecond // of the work
	shieldGoodbye = 150 * time.Millisecond // how long a goodbye takes that does not hang
	shieldGrace   = time.Second            // of that one: ample, for busy machines
	shieldCut     = 300 * time.Millisecond // grace of the one that hangs
)

type shieldMeasure struct {
	work, goodbye, stuck span
	goodbyeErr, stuckErr error // of the shields around the goodbye that ends, and the one that hangs
	after                error // what the work met after both
	err                  error // of the bound around all
}

func playShield(ctx context.Context) shieldMeasure {
	m := shieldMeasure{
		work:    span{what: "work", due: shieldBound},
		goodbye: span{what: "goodbye", due: shieldGoodbye},
		stuck:   span{what: "stuck goodbye", due: shieldCut},
	}
	start := time.Now()
	m.err = bide.FailAfter(ctx, shieldBound, func(ctx context.Context) error {
		err := bide.Sleep(ctx, time.Hour)
		m.work.took = time.Since(start)

		start = time.Now()
		m.goodbyeErr = bide.Shield(ctx, shieldGrace, func(ctx context.Context) error { return bide.Sleep(ctx, shieldGoodbye) })
		m.goodbye.took = time.Since(start)

		start = time.Now()
		m.stuckErr = bide.Shield(ctx, shieldCut, func(ctx context.Context) error { return bide.Sleep(ctx, time.Hour) }, bide.Name("goodbye"))
		m.stuck.took = time.Since(start)

		m.after = bide.Check(ctx)
		return err
	})
	return m
}

func (m shieldMeasure) spans() []span { return []span{m.work, m.stuck} }

func (m shieldMeasure) story() []string {
	return []string{
		fmt.Sprintf("Said to its end, %s long, after the cancel. One that hung was cut, and not in silence:", ms(m.goodbye.due)),
		m.stuckErr.Error(),
	}
}

func (m shieldMeasure) verdict() []string {
	broken := m.work.verdict()
	if m.goodbyeErr != nil {
		broken = append(broken, fmt.Sprintf("the goodbye, %s long, was cut within its grace of %s: %v", ms(m.goodbye.due), ms(shieldGrace), m.goodbyeErr))
	} else {
		broken = append(broken, m.goodbye.verdict()...)
	}
	broken = append(broken, m.stuck.verdict()...)
	broken = append(broken, timedOut("the shield of the stuck goodbye", m.stuckErr)...)
	var late *bide.TimeoutError
	if errors.As(m.stuckErr, &late) && late.Scope != "goodbye" {
		broken = append(broken, fmt.Sprintf("the error of the stuck goodbye names %q, not the shield", late.Scope))
	}
	if m.after == nil {
		broken = append(broken, "after its shields the work was not canceled any more")
	}
	return append(broken, timedOut("the bound around all", m.err)...)
}
