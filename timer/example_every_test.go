package timer_test

import (
	"fmt"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// A periodic function learns which tick it is called for, and how many got no call because it was busy.
func ExampleEvery() {
	c := clock.NewVirtual()
	report := func(scheduled clock.Instant, missed int) {
		fmt.Println("tick of", scheduled, "missed", missed)
		if scheduled == clock.Instant(2*time.Second) {
			c.Advance(3500 * time.Millisecond) // this call takes long
		}
	}
	t := timer.Every(time.Second, report, timer.On(c), timer.Inline())

	c.Advance(7 * time.Second)
	fmt.Println("stopped:", t.Stop())
	// Output:
	// tick of 1s missed 0
	// tick of 2s missed 0
	// tick of 5s missed 2
	// tick of 6s missed 0
	// tick of 7s missed 0
	// stopped: true
}
