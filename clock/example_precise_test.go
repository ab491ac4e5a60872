package clock_test

import (
	"fmt"
	"time"

	"bide.invalid/bide/clock"
)

// A pace of a kilohertz. Each step is counted from the one before, not from when it came, so lateness does not add up.
func ExampleNewPreciseAlarm() {
	const pace = time.Millisecond
	start := clock.Now()
	next := start.Add(pace)

	steps := make(chan clock.Instant, 1)
	alarm := clock.NewPreciseAlarm(func(now clock.Instant) { steps <- now })
	for range 10 {
		alarm.Set(next)
		if now := <-steps; now.Before(next) {
			fmt.Println("early")
		}
		next = next.Add(pace)
	}
	fmt.Println("ten steps in ten milliseconds or more:", clock.Now().Sub(start) >= 10*pace)
	// Output:
	// ten steps in ten milliseconds or more: true
}
