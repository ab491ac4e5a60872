package clock_test

import (
	"errors"
	"fmt"
	"time"

	"bide.invalid/bide/clock"
)

// A lease runs on while the machine sleeps: whoever granted it does not sleep.
func ExampleBoottime() {
	c, err := clock.Boottime()
	if errors.Is(err, errors.ErrUnsupported) {
		c = clock.Monotonic() // after a suspend this program will think that it still has the lease
	}
	granted := c.Now()
	lease := granted.Add(30 * time.Second)

	fmt.Println("still ours:", c.Now().Before(lease))
	fmt.Println("renew in:", lease.Sub(granted)*2/3)
	// Output:
	// still ours: true
	// renew in: 20s
}
