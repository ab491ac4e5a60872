package main

import (
	"context"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/syncs"
)

func lockScene() scene {
	return scene{
		name:    "lock",
		trouble: "Somebody holds a mutex, and never lets go.",
		code:    "err := bide.FailAfter(ctx, " + inGo(lockBound) + ", mu.Lock)",
		play:    func(ctx context.Context) measure { return playLock(ctx) },
	}
}

const lockBound = 300 * time.Millisecond

type lockMeasure struct {
	wait  span
	err   error
	clean bool // once released, the lock was free: who gave up had not taken it, nor was handed it
}

func playLock(ctx context.Context) (m lockMeasure) {
	var mu syncs.Mutex
	mu.TryLock()
	start := time.Now()
	m.err = bide.FailAfter(ctx, lockBound, mu.Lock)
	m.wait = span{due: lockBound, took: time.Since(start)}
	if m.err != nil {
		mu.Unlock()
		m.clean = mu.TryLock()
	}
	return m
}

func (m lockMeasure) spans() []span { return []span{m.wait} }

func (m lockMeasure) story() []string {
	return []string{"sync.Mutex would wait for ever. This one gave up, and took nothing: once released, it was free."}
}

func (m lockMeasure) verdict() []string {
	if m.err == nil {
		return []string{"Lock returned nil, while somebody else holds the lock"}
	}
	broken := append(m.wait.verdict(), timedOut("Lock", m.err)...)
	if !m.clean {
		broken = append(broken, "Lock returned an error, and the lock was not free once its holder had released it")
	}
	return broken
}
