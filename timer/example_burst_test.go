package timer_test

import (
	"fmt"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// What becomes of the ticks that come while the function runs. Here the call for the first tick takes two seconds and a
// half.
func ExampleBurst() {
	for _, late := range []struct {
		name   string
		option timer.Option
	}{{"Skip", timer.Skip()}, {"Burst", timer.Burst()}, {"Delay", timer.Delay()}} {
		c := clock.NewVirtual()
		fmt.Println(late.name)
		t := timer.Every(time.Second, func(scheduled clock.Instant, missed int) {
			fmt.Printf("  tick of %v at %v, missed %d\n", scheduled, c.Now(), missed)
			if scheduled == clock.Instant(time.Second) {
				c.Advance(2500 * time.Millisecond)
			}
		}, timer.On(c), timer.Inline(), late.option)
		c.Advance(5 * time.Second)
		t.Stop()
	}
	// Output:
	// Skip
	//   tick of 1s at 1s, missed 0
	//   tick of 3s at 3.5s, missed 1
	//   tick of 4s at 4s, missed 0
	//   tick of 5s at 5s, missed 0
	// Burst
	//   tick of 1s at 1s, missed 0
	//   tick of 2s at 3.5s, missed 0
	//   tick of 3s at 3.5s, missed 0
	//   tick of 4s at 4s, missed 0
	//   tick of 5s at 5s, missed 0
	// Delay
	//   tick of 1s at 1s, missed 0
	//   tick of 4.5s at 4.5s, missed 0
}
