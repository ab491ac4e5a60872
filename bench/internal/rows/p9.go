package rows

import (
	"time"

	"bide.invalid/bide/bench/internal/pair"
)

// P9: a hundred thousand timers are spread over a second, which the runtime's own can keep up with.
var p9 = pair.Row{
	Name: "P9", Title: "100k timers spread over a second", Procs: 2,
	Run:   func(r *pair.Run) error { return runExpire(r, 100_000, time.Second) },
	Lines: linesExpire(1.3, 3*time.Millisecond),
}
