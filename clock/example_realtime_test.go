package clock_test

import (
	"errors"
	"fmt"
	"time"

	"bide.invalid/bide/clock"
)

// A time of day stays what it is when somebody corrects the machine's clock: the alarm follows.
func ExampleRealtime() {
	c, err := clock.Realtime()
	if errors.Is(err, errors.ErrUnsupported) {
		c = clock.Monotonic() // closes when it was to close as the clock stood at the start
	}
	closing := time.Now().Add(20 * time.Millisecond)

	closed := make(chan bool)
	alarm := c.NewAlarm(func(clock.Instant) { closed <- !time.Now().Before(closing) })
	alarm.Set(c.FromTime(closing))
	fmt.Println("closed in time:", <-closed)
	// Output:
	// closed in time: true
}
