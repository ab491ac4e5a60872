package timer_test

import (
	"fmt"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// When StopWait has returned true, what the function uses can be closed.
func ExampleTimer_StopWait() {
	c := clock.NewVirtual()
	file := []string{}
	t := timer.Every(time.Second, func(scheduled clock.Instant, _ int) {
		file = append(file, scheduled.String())
	}, timer.On(c), timer.Inline())

	c.Advance(2 * time.Second)
	fmt.Println(t.StopWait(), file)

	// Whoever arms it again starts it again.
	t.ResetAt(clock.Instant(10 * time.Second))
	c.Advance(8 * time.Second)
	fmt.Println(t.StopWait(), file)
	// Output:
	// true [1s 2s]
	// true [1s 2s 10s]
}
