package bidetest

import "time"

// Impatient shortens how long leaks outside of bubbles are waited for.
func Impatient(d time.Duration) (restore func()) {
	old := patience
	patience = d
	return func() { patience = old }
}

// MostJumps bounds JumpUntil by less.
func MostJumps(n int) (restore func()) {
	old := mostJumps
	mostJumps = n
	return func() { mostJumps = old }
}

var Module = module

// Choice is what choice says of n points.
func Choice(point, seed string, n int) ([]int, string) {
	which, err := choice(point, seed)
	if err != nil {
		panic(err)
	}
	return which(n)
}
