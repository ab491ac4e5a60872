package rows

import (
	"time"

	"bide.invalid/bide/bench/internal/pair"
)

// P8: a million timers come due within one second.
var p8 = pair.Row{
	Name: "P8", Title: "a million timers due within a second", Procs: 2,
	Run:   func(r *pair.Run) error { return runExpire(r, 1_000_000, time.Second) },
	Lines: linesExpire(4, 25*time.Millisecond),
}
