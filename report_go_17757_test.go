package bide_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// golang/go#17757. A ticker that nobody stopped went on for ever: each loop that left early, by a return or because its
// work was canceled, added one.
//
// Here a ticker can be its scope's: it ends when the scope does, however that is left.
func TestReportGo17757(t *testing.T) {
	for name, leave := range map[string]func(s *bide.Scope) error{
		"return":   func(*bide.Scope) error { return nil },
		"cancel":   func(s *bide.Scope) error { s.Cancel(nil); return s.Err() },
		"deadline": func(s *bide.Scope) error { return bide.Sleep(s, time.Hour) },
		"panic":    func(*bide.Scope) error { panic("as it were") },
	} {
		synctest.Test(t, func(t *testing.T) {
			v := clock.NewVirtual()
			ticks := 0
			go func() {
				defer func() { _ = recover() }()
				_ = bide.Run(context.Background(), func(s *bide.Scope) error {
					tick := timer.Every(time.Millisecond, func(clock.Instant, int) { ticks++ }, timer.On(v), timer.Inline())
					s.AfterFunc(func() { tick.StopWait() })
					if err := bide.Sleep(s, 10*time.Millisecond); err != nil {
						return err
					}
					return leave(s)
				}, bide.Clock(v), bide.Timeout(20*time.Millisecond))
			}()
			synctest.Wait()
			for range 30 {
				v.Advance(time.Millisecond)
				synctest.Wait()
			}
			came := ticks
			v.Advance(24 * time.Hour)
			synctest.Wait()
			if came < 9 || came > 21 || ticks != came { // the last one may have come together with the end
				t.Errorf("%s: %d ticks, and %d in the day after", name, came, ticks-came)
			}
			if n := timer.For(v).Stats().Pending; n != 0 || v.Jump() {
				t.Errorf("%s: %d pending, or an alarm is set", name, n)
			}
			if g := ours(); g != nil {
				t.Errorf("%s: %d goroutines are left:\n%s", name, len(g), strings.Join(g, "\n\n"))
			}
		})
	}
}
