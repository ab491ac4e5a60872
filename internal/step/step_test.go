package step_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide/internal/step"
)

// TestAt: with the tag or without, a step comes back, allocates nothing, and may be taken with a lock held.
func TestAt(t *testing.T) {
	step.At("test.first") // the seed is read once
	if got := testing.AllocsPerRun(100, func() { step.At("test.step") }); got != 0 {
		t.Errorf("%v allocations", got)
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	n := 0
	for range 4 {
		wg.Go(func() {
			for range 500 {
				mu.Lock()
				step.At("test.locked")
				n++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if n != 2000 {
		t.Errorf("%d steps, want 2000", n)
	}
}

// TestAtInBubble: a step must not sleep, or the fake time would move.
func TestAtInBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		for range 500 {
			step.At("test.bubble")
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("steps took %v of fake time", took)
		}
	})
}
