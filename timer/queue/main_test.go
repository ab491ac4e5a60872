package queue

import (
	"flag"
	"os"
	"testing"
)

// coarse is the tick of the timer service's wheel on the monotonic clock, as a shift.
const coarse = 20

// TestMain keeps rapid from writing files beside the sources: it prints the seed, -rapid.seed takes one.
func TestMain(m *testing.M) {
	for name, value := range map[string]string{"rapid.nofailfile": "true", "rapid.checks": "500"} {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
