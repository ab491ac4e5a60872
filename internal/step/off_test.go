//go:build !bidestep

package step_test

import (
	"testing"

	"bide.invalid/bide/internal/step"
)

func TestOff(t *testing.T) {
	if step.On {
		t.Error("steps are compiled in, though nobody asked for them")
	}
}
