package clock

import (
	"errors"
	"testing"
)

func TestUnsupported(t *testing.T) {
	err := unsupported("Boottime", "windows")
	if want := "bide/clock: no Boottime on windows: unsupported operation"; err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
	if !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("%v is not errors.ErrUnsupported", err)
	}
}
