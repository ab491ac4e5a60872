package queue

import (
	"flag"
	"os"
	"testing"
)

// TestMain keeps rapid from writing files beside the sources: it prints the seed, -rapid.seed takes one.
func TestMain(m *testing.M) {
	for name, value := range map[string]string{"rapid.nofailfile": "true", "rapid.checks": "500"} {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
