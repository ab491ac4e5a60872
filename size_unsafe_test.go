package bide

// unsafe.Sizeof is all that is used of unsafe here.

import (
	"testing"
	"unsafe"

	"bide.invalid/bide/park"
	"bide.invalid/bide/timer"
)

// The sizes that the figures rest on, on 64 bits.
func TestSizes(t *testing.T) {
	if unsafe.Sizeof(uintptr(0)) != 8 {
		t.Log("a 32-bit machine: everything is smaller")
	}
	for _, s := range []struct {
		name      string
		size, max uintptr
	}{
		{"Scope", unsafe.Sizeof(Scope{}), 144},
		{"timer.Entry", unsafe.Sizeof(timer.Entry{}), 48},
		{"timer.Timer", unsafe.Sizeof(timer.Timer{}), 48},
		{"park.Waiter", unsafe.Sizeof(park.Waiter{}), 224},
	} {
		if s.size > s.max {
			t.Errorf("%s has %d bytes, at most %d", s.name, s.size, s.max)
		}
	}
}
