//go:build bidestep

package sim

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"bide.invalid/bide/internal/step"
)

// found plays a model until it fails, or has been tried with up to two interruptions.
func found(t *testing.T, model func(w *World)) (run, *explorer) {
	e := &explorer{t: t, model: model}
	if !e.exhaust(2, time.Now().Add(time.Minute)) && e.failed.err == nil {
		t.Fatal("out of time")
	}
	return e.failed, e
}

// Two goroutines that read, and then write: one update is lost in some schedules, and the shortest has one interruption.
func TestFindsLostUpdate(t *testing.T) {
	r, e := found(t, func(w *World) {
		var n atomic.Int32
		for _, name := range []string{"a", "b"} {
			w.Go(name, func() {
				v := n.Load()
				step.At("between")
				n.Store(v + 1)
			})
		}
		w.Check(func() error {
			if n.Load() != 2 {
				return errors.New("lost")
			}
			return nil
		})
	})
	if r.err == nil || r.err.Error() != "lost" {
		t.Fatalf("found %v", r.err)
	}
	r = e.shorten(r)
	interruptions := 0
	for _, c := range r.choices {
		if c.current && c.pick != 0 {
			interruptions++
		}
	}
	if r.err == nil || interruptions != 1 {
		t.Errorf("%d interruptions in %s: %v", interruptions, format(r), r.err)
	}
	var picks []int
	for _, c := range r.choices {
		picks = append(picks, c.pick)
	}
	if again := e.run(prefix(picks)); again.err == nil || strings.Join(again.trace, " ") != strings.Join(r.trace, " ") {
		t.Errorf("replayed: %v, %v, not %v", again.err, again.trace, r.trace)
	}
}

// All orders of n and m steps are tried, each once.
func TestTriesAll(t *testing.T) {
	seen := map[string]int{}
	r, e := found(t, func(w *World) {
		var order strings.Builder
		for _, name := range []string{"a", "b"} {
			w.Go(name, func() {
				order.WriteString(name) // alone: nobody else runs
				step.At("1")
				order.WriteString(name)
			})
		}
		w.Check(func() error { seen[order.String()]++; return nil })
	})
	if r.err != nil {
		t.Fatal(r.err)
	}
	if len(seen) != 6 || e.n < 6 {
		t.Errorf("%d schedules, orders %v", e.n, seen)
	}
}

// A lock that nobody gives back, and one that is taken twice the wrong way round.
func TestFindsDeadlock(t *testing.T) {
	r, _ := found(t, func(w *World) {
		var a, b step.Mutex
		w.Go("ab", func() { a.Lock(); step.At("x"); b.Lock(); b.Unlock(); a.Unlock() })
		w.Go("ba", func() { b.Lock(); step.At("y"); a.Lock(); a.Unlock(); b.Unlock() })
	})
	if r.err == nil || !strings.Contains(r.err.Error(), "2 of ab, ba wait for ever") {
		t.Errorf("found %v", r.err)
	}
}

func TestFindsPanic(t *testing.T) {
	r, _ := found(t, func(w *World) {
		var m step.Mutex
		w.Go("breaks", func() { m.Lock(); step.At("x"); panic("broken") })
		w.Go("waits", func() { m.Lock(); m.Unlock() })
	})
	if r.err == nil || !strings.Contains(r.err.Error(), "breaks panicked: broken") {
		t.Errorf("found %v", r.err)
	}
}

// A channel blocks a goroutine, and nobody waits for it to come to a step.
func TestBlocked(t *testing.T) {
	r, e := found(t, func(w *World) {
		c := make(chan int)
		w.Go("sends", func() { step.At("x"); c <- 1 })
		w.Go("receives", func() { <-c; step.At("park.woken") })
	})
	if r.err != nil || e.n < 2 {
		t.Errorf("%d schedules, %v", e.n, r.err)
	}
	r, _ = found(t, func(w *World) {
		w.Go("waits", func() { <-w.Context().Done(); <-w.Context().Done() })
	})
	if r.err == nil || !strings.Contains(r.err.Error(), "1 of waits wait for ever") {
		t.Errorf("found %v", r.err)
	}
}
