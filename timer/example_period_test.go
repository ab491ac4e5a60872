package timer_test

import (
	"fmt"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// poll calls f every d, as bide.Ticks does: it waits for its ticks itself, here by moving the clock.
func poll(c *clock.Virtual, d time.Duration, f func(scheduled clock.Instant, missed int) bool, opts ...timer.Option) {
	for p := timer.Periodic("example", "poll", timer.For(c), d, opts); ; p.Next() {
		if wait := p.Due().Sub(c.Now()); wait > 0 {
			c.Advance(wait)
		}
		if !f(p.Claim()) {
			return
		}
	}
}

// A package's own periodic call, with the options of Every.
func ExamplePeriodic() {
	c := clock.NewVirtual()
	poll(c, time.Second, func(scheduled clock.Instant, missed int) bool {
		fmt.Println(scheduled, missed)
		c.Advance(1500 * time.Millisecond) // the body takes longer than a period
		return scheduled < clock.Instant(4*time.Second)
	}, timer.Skip())
	// Output:
	// 1s 0
	// 2s 0
	// 4s 1
}
