//go:build !linux

package clock_test

import (
	"errors"
	"runtime"
	"testing"

	"bide.invalid/bide/clock"
)

func TestSystemClocksUnsupported(t *testing.T) {
	for name, open := range map[string]func() (clock.Clock, error){
		"Boottime": clock.Boottime,
		"Realtime": clock.Realtime,
	} {
		c, err := open()
		if c != nil || !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s: %v, %v", name, c, err)
			continue
		}
		if want := "bide/clock: no " + name + " on " + runtime.GOOS + ": unsupported operation"; err.Error() != want {
			t.Errorf("%s: %q, want %q", name, err, want)
		}
	}
}
