package invariant_test

import (
	"testing"

	"bide.invalid/bide/internal/invariant"
)

func TestTrue(t *testing.T) {
	invariant.True(true, "this holds")
	defer func() {
		var want any
		if invariant.On {
			want = "bide: broken invariant: this does not"
		}
		if got := recover(); got != want {
			t.Errorf("On %v: panic %v, want %v", invariant.On, got, want)
		}
	}()
	invariant.True(false, "this does not")
}

func TestCostsNothing(t *testing.T) {
	ok := true
	if got := testing.AllocsPerRun(100, func() { invariant.True(ok, "this holds") }); got != 0 {
		t.Errorf("%v allocations", got)
	}
}
