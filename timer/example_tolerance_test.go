package timer_test

import (
	"fmt"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// Ten caches are refreshed once a minute, and it does not matter when exactly: with a tolerance the process wakes up once
// a minute for all of them, not ten times.
func ExampleTolerance() {
	wakes := func(opts ...timer.Option) int64 {
		c := clock.NewVirtual()
		for i := range 10 {
			c.Advance(time.Duration(i) * time.Millisecond)
			timer.Every(time.Minute, func(clock.Instant, int) {}, append(opts, timer.On(c), timer.Inline())...)
		}
		c.Advance(61 * time.Second)
		return timer.For(c).Stats().Wakes
	}
	fmt.Println(wakes())
	fmt.Println(wakes(timer.Tolerance(time.Second)))
	// Output:
	// 10
	// 1
}

// A tolerance of zero is for what must come at its time. It is still never early.
func ExamplePrecise() {
	due := clock.After(100 * time.Microsecond)
	came := make(chan clock.Instant)
	timer.AfterFunc(100*time.Microsecond, func() { came <- clock.Now() }, timer.Tolerance(0))
	fmt.Println("early:", (<-came).Before(due))
	fmt.Println("pending:", timer.Precise().Stats().Pending)
	// Output:
	// early: false
	// pending: 0
}
