package bide_test

import (
	"context"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
)

// Done and AfterFunc look before they rely on being told: what has ended above in the meantime has ended the scope, also
// where nobody has been told of it yet.
func TestDoneLooksRealTime(t *testing.T) {
	for name, end := range map[string]func() (above *bide.Scope){
		"a context above is canceled": func() *bide.Scope {
			ctx, cancel := context.WithCancel(t.Context())
			above := bide.Open(ctx)
			above.Done()
			cancel()
			return above
		},
		"a deadline above has passed": func() *bide.Scope {
			above := bide.Open(t.Context(), bide.Timeout(100*time.Microsecond))
			above.Done()
			for due := clock.After(110 * time.Microsecond); clock.Now() < due; {
			}
			return above
		},
	} {
		for range 100 {
			above := end()
			s := bide.Open(above)
			select {
			case <-s.Done():
			default:
				t.Fatalf("%s: Done is open", name)
			}
			s.Close(nil)
			above.Close(nil)

			above = end()
			s = bide.Open(above)
			called := make(chan bool, 1)
			if stop := s.AfterFunc(func() { called <- true }); stop() {
				t.Fatalf("%s: the function of AfterFunc waits", name)
			}
			<-called
			s.Close(nil)
			above.Close(nil)
		}
	}
}
