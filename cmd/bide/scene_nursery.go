package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"bide.invalid/bide"
)

func nurseryScene() scene {
	return scene{
		name:    "nursery",
		trouble: "One of four goroutines fails. Who tells the others, and who waits for them?",
		code:    "err := bide.WithNursery(ctx, func(ctx, n) error { n.Go(price); n.Go(stock); … })",
		play:    func(ctx context.Context) measure { return playNursery(ctx) },
	}
}

const (
	nurseryFails    = 100 * time.Millisecond
	nurserySiblings = 3
	nurseryTidies   = 50 * time.Millisecond // what a sibling still does when it has been told
)

type nurseryMeasure struct {
	heard       span    // until the last sibling was told
	told        []error // what each of them was told
	ended       int     // of the siblings and the one that fails, when WithNursery returned
	failed, err error   // with what the one failed, and WithNursery
}

func playNursery(ctx context.Context) nurseryMeasure {
	m := nurseryMeasure{heard: span{due: nurseryFails}, failed: errors.New("price: connection refused")}
	type hearing struct {
		err  error
		took time.Duration
	}
	heard := make(chan hearing, nurserySiblings)
	var ended atomic.Int64
	start := time.Now()
	m.err = bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
		for range nurserySiblings {
			n.Go(func(ctx context.Context) error {
				defer ended.Add(1)
				err := bide.Sleep(ctx, time.Hour)
				heard <- hearing{err, time.Since(start)}
				time.Sleep(nurseryTidies) // deaf to cancellation, as much code is
				return err
			})
		}
		n.Go(func(ctx context.Context) error {
			defer ended.Add(1)
			if err := bide.Sleep(ctx, nurseryFails); err != nil {
				return err
			}
			return m.failed
		})
		return nil
	})
	m.ended = int(ended.Load())
	for range len(heard) {
		h := <-heard
		m.told = append(m.told, h.err)
		m.heard.took = max(m.heard.took, h.took)
	}
	return m
}

func (m nurseryMeasure) spans() []span {
	if len(m.told) < nurserySiblings {
		return nil
	}
	return []span{m.heard}
}

func (m nurseryMeasure) story() []string {
	return []string{
		fmt.Sprintf("%d siblings were told, took %s more to tidy up, and all %d had ended when it returned.", len(m.told), ms(nurseryTidies), m.ended),
		fmt.Sprintf("err is the one that counts, once: %v", m.err),
	}
}

func (m nurseryMeasure) verdict() []string {
	var broken []string
	for _, s := range m.spans() {
		broken = append(broken, s.verdict()...)
	}
	if m.ended != nurserySiblings+1 {
		broken = append(broken, fmt.Sprintf("WithNursery returned when %d of %d children had ended", m.ended, nurserySiblings+1))
	}
	if len(m.told) < nurserySiblings {
		broken = append(broken, fmt.Sprintf("%d of %d siblings were told", len(m.told), nurserySiblings))
	}
	if m.err != m.failed {
		broken = append(broken, fmt.Sprintf("WithNursery returned %v, not the very error of the child that failed", m.err))
	}
	for _, err := range m.told {
		var c *bide.Canceled
		if !errors.As(err, &c) || c.Source != bide.BySibling || c.Reason != m.failed || !errors.Is(err, context.Canceled) {
			broken = append(broken, fmt.Sprintf("a sibling was told %v, not that another one had failed", err))
		}
	}
	return broken
}
