package syncs_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/syncs"
)

// jackc/pgx#1259 (and #1021, #1272, #1287). The pool made connections under the context of the request that happened to
// want one. With requests that had less time than a connection takes, every attempt was canceled half way, and the next
// request began from nothing: under load the pool never had a connection. The way around that, a context of its own,
// then had no bound at all.
//
// Here a connection takes more than three seconds, and no request waits for more than one. The first ones fail; what they have
// asked for is finished, under a bound of its own, and from then on everybody is served.
func TestReportPgx1259(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		made, stuck := 0, false
		p := &syncs.Pool[int]{Max: 1, Bound: time.Minute, New: func(ctx context.Context) (int, error) {
			d := 3250 * time.Millisecond
			if stuck {
				d = time.Hour
			}
			if err := bide.Sleep(ctx, d); err != nil {
				return 0, err
			}
			made++
			return made, nil
		}}
		var served, late atomic.Int64
		var group sync.WaitGroup
		for range 10 {
			group.Go(func() {
				switch c, err := bide.Within(bg, time.Second, p.Get); {
				case err == nil:
					served.Add(1)
					p.Put(c)
				case errors.Is(err, context.DeadlineExceeded):
					late.Add(1)
				default:
					t.Error(err)
				}
			})
			time.Sleep(500 * time.Millisecond)
			synctest.Wait()
		}
		group.Wait()
		if made != 1 || late.Load() != 5 || served.Load() != 5 {
			t.Errorf("made %d, served %d, late %d", made, served.Load(), late.Load())
		}

		// A server that does not answer holds the slot for as long as Bound, and no longer.
		stuck = true
		p.Drop(mustBorrow(t, p))
		if _, err := bide.Within(bg, time.Second, p.Get); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if s := p.Stats(); s.Total != 0 || s.NewErrors != 1 {
			t.Errorf("%+v", s)
		}
		shut(t, p)
	})
}
