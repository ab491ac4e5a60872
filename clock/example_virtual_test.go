package clock_test

import (
	"fmt"
	"time"

	"bide.invalid/bide/clock"
)

// A virtual clock moves when it is told to: what comes due on the way is called in order, and an hour takes no time.
func ExampleVirtual() {
	c := clock.NewVirtual()
	ring := func(name string) func(clock.Instant) {
		return func(now clock.Instant) { fmt.Println(name, "at", now) }
	}
	c.NewAlarm(ring("lunch")).Set(c.Now().Add(30 * time.Minute))
	c.NewAlarm(ring("tea")).Set(c.Now().Add(10 * time.Minute))

	c.Advance(time.Hour)
	fmt.Println("the clock shows", c.Now())
	// Output:
	// tea at 10m0s
	// lunch at 30m0s
	// the clock shows 1h0m0s
}

// Jump goes to the next instant that somebody waits for.
func ExampleVirtual_Jump() {
	c := clock.NewVirtual()
	c.NewAlarm(func(now clock.Instant) { fmt.Println("called at", now) }).Set(clock.Instant(24 * time.Hour))
	for c.Jump() {
		fmt.Println("jumped to", c.Now())
	}
	// Output:
	// called at 24h0m0s
	// jumped to 24h0m0s
}
