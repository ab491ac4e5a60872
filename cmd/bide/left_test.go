package main

import (
	"errors"
	"strings"
	"testing"

	"bide.invalid/bide/wire"
)

// full is a disk that is full.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// A deadline that could not be printed is not told as one that there is.
func TestLeftCannotPrint(t *testing.T) {
	t.Setenv(wire.EnvDeadline, "v1;wall=2001-01-01T00:00:00Z")
	var stderr strings.Builder
	if code := leftCommand(nil, full{}, &stderr); code != exitBroken || stderr.String() != "bide left: no space left on device\n" {
		t.Errorf("exit code %d, %q", code, &stderr)
	}
}
