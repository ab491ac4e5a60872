package syncs_test

import (
	"context"
	"testing"

	"bide.invalid/bide/syncs"
)

// A nil context is a mistake that is named, in every call that takes one.
func TestNilContext(t *testing.T) {
	var none context.Context
	for want, call := range map[string]func(){
		"bide/syncs: Lock with a nil context":             func() { _ = new(syncs.Mutex).Lock(none) },
		"bide/syncs: Wait of an Event with a nil context": func() { _ = new(syncs.Event).Wait(none) },
		"bide/syncs: Wait of a Future with a nil context": func() { _, _ = new(syncs.Future[int]).Wait(none) },
		"bide/syncs: WaitAny with a nil context":          func() { _, _ = syncs.WaitAny(none) },
	} {
		func() {
			defer func() {
				if v := recover(); v != want {
					t.Errorf("panic %q, want %q", v, want)
				}
			}()
			call()
		}()
	}
}
