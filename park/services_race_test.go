package park_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/park"
	"bide.invalid/bide/timer"
)

func TestTwoServicesBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := park.New(nil)
		for i := range 20000 {
			s := timer.Default()
			if i%2 == 0 {
				s = timer.Precise()
			}
			tok := w.ArmOn(s, clock.After(1))
			time.AfterFunc(1, func() { w.Wake(tok, park.Woken) })
			w.Wait(context.Background(), tok, park.KindOther)
		}
		w.Release()
	})
}
