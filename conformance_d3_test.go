package bide_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// D. Shields, continued: who cannot be woken.

// Under a canceled scope somebody is in a call that does not obey it. Nobody tells him again and again: nothing runs,
// nothing is scheduled, no clock is read, until he comes back by himself.
var _ = register(63, "no_redelivery", func(c *C) {
	stuck := map[string]func(ctx context.Context, leave chan struct{}) error{
		"a channel": func(_ context.Context, leave chan struct{}) error { <-leave; return nil },
		"a condition": func(_ context.Context, leave chan struct{}) error {
			cond, left := sync.NewCond(new(sync.Mutex)), false
			go func() {
				<-leave
				cond.L.Lock()
				left = true
				cond.L.Unlock()
				cond.Signal()
			}()
			cond.L.Lock()
			for !left {
				cond.Wait()
			}
			cond.L.Unlock()
			return nil
		},
		"a wait under no context": func(_ context.Context, leave chan struct{}) error {
			_, err := bide.Blocking(context.Background(), func(context.Context) (int, error) { <-leave; return 0, nil }, bide.Abandon())
			return err
		},
		"a shield": func(ctx context.Context, leave chan struct{}) error {
			return bide.Shield(ctx, 1000*time.Hour, func(context.Context) error { <-leave; return nil })
		},
	}
	for name, child := range stuck {
		c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
			read := &slow{Virtual: vc}
			service := timer.For(read)
			leave := make(chan struct{})
			var after atomic.Int64
			op := c.Start(func() error {
				return bide.Run(ctx, func(s *bide.Scope) error {
					return bide.WithNursery(s, func(ctx context.Context, n *bide.Nursery) error {
						for range 3 {
							n.Go(func(ctx context.Context) error {
								if err := child(ctx, leave); err != nil {
									return err
								}
								after.Add(1)
								return bide.Check(ctx)
							}, bide.Timeout(time.Minute))
						}
						s.Cancel(failure)
						return nil
					})
				}, bide.Clock(read))
			})
			op.Parked(name)
			c.True(!vc.Jump(), "%s: nothing is scheduled", name)
			reads, stats := read.reads.Load(), service.Stats()
			for range 10 {
				vc.Advance(time.Hour)
				time.Sleep(time.Hour) // of the bubble, in which anybody could run
				synctest.Wait()
			}
			c.Equal(read.reads.Load(), reads, name+": readings of the clock")
			c.Equal(service.Stats(), stats, name+": what the timers did")
			op.Parked(name + ", hours later")
			close(leave)
			c.NoError(op.Returned(name)) // the cancellation was the scope's own
			c.Equal(after.Load(), int64(3), name+": children that came back")
		})
	}
})
