package syncs_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/syncs"
)

// hashicorp/yamux, commit 904091c. The loop that read from the connection answered control frames itself, by a
// send on the channel of the writer. When the writer was stuck, because the other side did not read either, the channel
// filled up and the reader was stuck too; so the other side, which was built the same way, never got to read.
//
// Here two sides do just that. A bound on the Put keeps the reader reading: an answer that cannot be had in time is
// given up, and known to be.
func TestReportYamux904091c(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const frames = 20
		a, b := syncs.NewQueue[int](1), syncs.NewQueue[int](1) // what is on its way in each direction
		type side struct {
			in, out        *syncs.Queue[int]
			read, answered int
			gaveUp         int
		}
		sides := []*side{{in: a, out: b}, {in: b, out: a}}
		a.TryPut(-1)
		b.TryPut(-1)
		loop := func(s *side) error {
			for s.read < frames {
				if _, err := bide.Within(bg, time.Minute, s.in.Get); err != nil {
					return err
				}
				s.read++
				for range 2 { // each frame asks for two
					err := bide.FailAfter(bg, time.Second, func(ctx context.Context) error { return s.out.Put(ctx, s.read) })
					switch {
					case err == nil:
						s.answered++
					case errors.Is(err, context.DeadlineExceeded):
						s.gaveUp++
					default:
						return err
					}
				}
			}
			return nil
		}
		ended := make(chan error, 2)
		for _, s := range sides {
			go func() { ended <- loop(s) }()
		}
		for range sides {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		for i, s := range sides {
			if s.read != frames || s.answered+s.gaveUp != 2*frames || s.gaveUp == 0 {
				t.Errorf("side %d: %d read, %d answered, %d given up", i, s.read, s.answered, s.gaveUp)
			}
		}
		if a.Queued() || b.Queued() {
			t.Error("somebody is left")
		}
	})
}
