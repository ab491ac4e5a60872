package ilist_test

import (
	"flag"
	"os"
	"testing"
)

// TestMain keeps rapid from writing files beside the sources: it prints the seed, -rapid.seed takes one.
func TestMain(m *testing.M) {
	if err := flag.Set("rapid.nofailfile", "true"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
