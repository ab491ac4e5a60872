package timer_test

import (
	"fmt"
	"time"

	"bide.invalid/bide/timer"
)

// What a program exports of its timeouts: how many are pending, and how late 99 of 100 came.
func ExampleDefault() {
	stats := timer.Default().Stats()
	fmt.Println(stats.Pending >= 0, stats.Late.Quantile(0.99) < time.Hour)
	// Output: true true
}
