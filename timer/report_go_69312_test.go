package timer

import (
	"testing"
	"time"

	"bide.invalid/bide/clock"
)

// golang/go#69312. With the channels of Go 1.23 Stop could say "has fired" of a timer that nobody was ever going to
// receive from: its deadline had passed, and that counted. Programs that believed it waited for the tick for ever
// (quic-go, ipfs/boxo#667).
//
// Here false means that the call has come or is coming, and true that it is not, at every stage between the deadline and
// the end of the call; also late, when the driver has not been there yet.
func TestReportGo69312(t *testing.T) {
	for name, stop := range map[string]func(tm *Timer) bool{
		"Stop":  (*Timer).Stop,
		"Reset": func(tm *Timer) bool { defer tm.Stop(); return tm.Reset(time.Hour) },
	} {
		for _, stage := range []struct {
			name string
			want bool
		}{
			{"armed", true},
			{"due, no driver", true},
			{"taken by the driver", true},
			{"called", false},
			{"over", false},
			{"stopped", false},
		} {
			h := new(hand)
			service := For(h)
			a := h.alarms[0]
			calls, prevented, asked := 0, false, false
			var tm *Timer
			at := func(s string) {
				if s == stage.name && !asked {
					prevented, asked = stop(tm), true
				}
			}
			AfterFunc(10, func() { at("taken by the driver") }, On(h), Inline())
			tm = AfterFunc(10, func() { calls++; at("called") }, On(h), Inline())
			at("armed")
			if stage.name == "stopped" {
				tm.Stop()
				at("stopped")
			}
			h.set(100)
			at("due, no driver")
			a.drive(100)
			at("over")
			a.drive(200)
			a.drive(clock.Instant(2 * time.Hour))
			switch {
			case !asked:
				t.Fatalf("%s: nobody asked while %s", name, stage.name)
			case prevented != stage.want:
				t.Errorf("%s while %s: %v, want %v", name, stage.name, prevented, stage.want)
			case stage.name != "stopped" && prevented == (calls == 1), calls > 1, stage.name == "stopped" && calls > 0:
				t.Errorf("%s while %s: %v, and %d calls", name, stage.name, prevented, calls)
			}
			if n := service.Stats().Pending; n != 0 {
				t.Errorf("%s while %s: %d pending", name, stage.name, n)
			}
		}
	}
}
