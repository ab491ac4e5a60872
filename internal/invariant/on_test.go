//go:build race || bideinvariant

package invariant_test

import (
	"testing"

	"bide.invalid/bide/internal/invariant"
)

func TestOn(t *testing.T) {
	if !invariant.On {
		t.Error("checks are not compiled in")
	}
}
