// Package stress is what random tests, and tests that last, have in common: BIDE_SEED replays the decisions of a random
// one, though not its interleavings, and BIDE_STRESS says how long one lasts.
package stress

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"
)

// Seed returns the seed that BIDE_SEED gives, or one that is drawn, and prints it.
func Seed(t testing.TB) uint64 {
	t.Helper()
	seed := rand.Uint64()
	if s := os.Getenv("BIDE_SEED"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatalf("BIDE_SEED=%q is not a number", s)
		}
		seed = n
	}
	t.Logf("BIDE_SEED=%d", seed)
	return seed
}

// Source returns a source of the Seed for each goroutine, or round, g.
func Source(t testing.TB) func(g int) *rand.Rand {
	t.Helper()
	seed := Seed(t)
	return func(g int) *rand.Rand { return rand.New(rand.NewPCG(seed, uint64(g))) }
}

// Time returns how long the test is to last: BIDE_STRESS, or a second, or in a short run a tenth of that.
func Time(t testing.TB) time.Duration {
	t.Helper()
	if s := os.Getenv("BIDE_STRESS"); s != "" {
		d, err := time.ParseDuration(s)
		if err != nil {
			t.Fatalf("BIDE_STRESS=%q is not a time such as 1m", s)
		}
		return d
	}
	if testing.Short() {
		return time.Second / 10
	}
	return time.Second
}

// Lasting returns a function that reports true until a share of the Time is over.
func Lasting(t testing.TB, share int) func() bool {
	t.Helper()
	end := time.Now().Add(Time(t) / time.Duration(share))
	return func() bool { return time.Now().Before(end) }
}
