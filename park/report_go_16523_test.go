package park_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/park"
)

// golang/go#16523. Connecting under a context ran a second goroutine that closed the socket on cancellation. Success
// and cancellation in the same instant could both happen: the caller got a connection, and the other goroutine killed
// it afterwards. For a year nobody saw it.
//
// Here "connected" and "canceled" are two resolvers of one wait. Exactly one of them takes effect, which is the one that
// the caller is told of, and all of its effect comes before.
func TestReportGo16523(t *testing.T) {
	for i := range some(20_000) {
		var effects atomic.Int64
		w := park.New(func(o park.Outcome) { effects.Add(1 << (8 * o)) })
		s := bide.Open(context.Background())
		tok := w.Arm(clock.Forever)
		var racers sync.WaitGroup
		var connected atomic.Bool
		racers.Go(func() { connected.Store(w.Wake(tok, park.Woken)) })
		racers.Go(func() { s.Cancel(nil) })
		o := w.Wait(s, tok, park.KindOther)
		seen := effects.Load()
		racers.Wait()
		switch {
		case effects.Load() != seen:
			t.Fatalf("round %d: an effect came after Wait had returned %v", i, o)
		case o == park.Woken && (seen != 1<<(8*park.Woken) || !connected.Load()):
			t.Fatalf("round %d: woken, with the effects %#x, and Wake %v", i, seen, connected.Load())
		case o == park.Canceled && (seen&^(1<<(8*park.Canceled)) != 0 || connected.Load()):
			t.Fatalf("round %d: canceled, with the effects %#x, and Wake %v", i, seen, connected.Load())
		}
		s.Close(nil)
	}
}
