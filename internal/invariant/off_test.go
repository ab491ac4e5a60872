//go:build !race && !bideinvariant

package invariant_test

import (
	"testing"

	"bide.invalid/bide/internal/invariant"
)

func TestOff(t *testing.T) {
	if invariant.On {
		t.Error("checks are compiled in, though nobody asked for them")
	}
}
