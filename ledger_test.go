package bide_test

import (
	"context"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/park"
	"bide.invalid/bide/syncs"
)

// waitsTwice has two waits one after the other, the second of which does not end.
func waitsTwice(lock time.Duration) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		var m syncs.Mutex
		m.TryLock()
		go func() {
			bide.Sleep(context.WithoutCancel(ctx), lock)
			m.Unlock()
		}()
		if err := m.Lock(ctx); err != nil {
			return err
		}
		return blk(ctx)
	}
}

// TestLedgerOpen: without accounting an expiry says what it found waiting, in the whole tree, and no more.
func TestLedgerOpen(t *testing.T) {
	c := &C{T: t}
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		_, err := c.Timed(vc, func() error {
			return bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
				for range 2 {
					n.Go(func(ctx context.Context) error {
						return bide.FailAfter(ctx, time.Hour, func(ctx context.Context) error { return blk(ctx) })
					})
				}
				n.Go(func(ctx context.Context) error {
					return bide.Shield(ctx, time.Hour, func(ctx context.Context) error { return bide.Sleep(ctx, time.Minute) })
				})
				return bide.Sleep(ctx, time.Hour)
			}, bide.Timeout(time.Second), bide.Name("get"))
		})
		e := c.TimeoutError(err)
		got := map[park.Kind]bide.LedgerEntry{}
		for _, entry := range e.Ledger {
			got[entry.Kind] = entry
		}
		c.Equal(got, map[park.Kind]bide.LedgerEntry{
			park.KindEvent: {Kind: park.KindEvent, Open: 2},
			park.KindSleep: {Kind: park.KindSleep, Open: 1}, // not that behind the shield
		}, "ledger")
	})
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		err := bide.FailAfter(ctx, time.Second, func(ctx context.Context) error {
			vc.Advance(time.Second)
			return bide.Check(ctx)
		})
		c.Equal(len(c.TimeoutError(err).Ledger), 0, "nobody waited")
	})
}

// TestLedgerAccount: with accounting each wait is measured, and what was opened below adds to what is above.
func TestLedgerAccount(t *testing.T) {
	c := &C{T: t}
	for name, below := range map[string]func(ctx context.Context, f func(context.Context) error) error{
		"itself": func(ctx context.Context, f func(context.Context) error) error { return f(ctx) },
		"a scope": func(ctx context.Context, f func(context.Context) error) error {
			return bide.FailAfter(ctx, time.Hour, f)
		},
		"a child": func(ctx context.Context, f func(context.Context) error) error {
			return bide.WithNursery(ctx, func(_ context.Context, n *bide.Nursery) error { n.Go(f, bide.Name("child")); return nil })
		},
		"below a standard context": func(ctx context.Context, f func(context.Context) error) error {
			std, cancel := context.WithCancel(ctx)
			defer cancel()
			return bide.FailAfter(std, time.Hour, f)
		},
	} {
		c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
			_, err := c.Timed(vc, func() error {
				return bide.FailAfter(ctx, 2*time.Second, func(ctx context.Context) error {
					return below(ctx, func(ctx context.Context) error {
						if err := bide.Shield(ctx, time.Hour, func(ctx context.Context) error { return bide.Sleep(ctx, 300*time.Millisecond) }); err != nil {
							return err
						}
						return waitsTwice(1500 * time.Millisecond)(ctx)
					})
				}, bide.Account(), bide.Name("get"))
			})
			e := c.TimeoutError(err)
			var text []string
			for _, entry := range e.Ledger {
				text = append(text, entry.Kind.String()+" "+entry.Total.String())
			}
			c.Equal(text, []string{"lock 1.5s", "sleep 300ms", "event 200ms"}, name+": ledger")
			c.Equal(e.Error(), "bide: get: timeout after 2s: lock 1.5s, sleep 0.3s, event 0.2s", name+": text")
		})
	}
	// Two waits at a time are twice as long as the scope.
	c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
		_, err := c.Timed(vc, func() error {
			return bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
				n.Go(blk)
				return blk(ctx)
			}, bide.Timeout(time.Second), bide.Account())
		})
		c.Equal(c.TimeoutError(err).Ledger, bide.Ledger{{Kind: park.KindEvent, Open: 2, Count: 2, Total: 2 * time.Second}}, "ledger")
	})
}

// TestLedgerLate: waits that a Close ends count above, though the sums of the closed scope are on their way there.
func TestLedgerLate(t *testing.T) {
	for range 100 {
		c := &C{T: t}
		c.Virtual(func(ctx context.Context, vc *clock.Virtual) {
			outer := bide.Open(ctx, bide.Account(), bide.Timeout(time.Hour))
			middle := bide.Open(outer)
			s := bide.Open(middle)
			var ops []*Op
			for range 8 {
				ops = append(ops, c.Start(func() error { return blk(s) }))
			}
			c.Timed(vc, func() error { return bide.Sleep(s, time.Second) }) // there is something to pass on
			s.Close(nil)
			middle.Close(nil)
			for _, op := range ops {
				c.Canceled(op.Wait())
			}
			vc.Advance(time.Hour)
			err := outer.Check()
			outer.Close(&err)
			c.Equal(c.TimeoutError(err).Ledger, bide.Ledger{{Kind: park.KindEvent, Count: 8, Total: 8 * time.Second},
				{Kind: park.KindSleep, Count: 1, Total: time.Second}}, "ledger")
		})
	}
}

func TestLedgerString(t *testing.T) {
	for want, l := range map[string]bide.Ledger{
		"":                                   nil,
		"waiting for lock, 3 pool":           {{Kind: park.KindLock, Open: 1}, {Kind: park.KindPool, Open: 3}},
		"pool 1.7s, lock 0.2s":               {{Kind: park.KindPool, Open: 1, Count: 1, Total: 1700 * time.Millisecond}, {Kind: park.KindLock, Count: 2, Total: 200 * time.Millisecond}},
		"read 1.23ms, lock 0s, kind+70 1m2s": {{Kind: park.KindRead, Count: 1, Total: 1234567}, {Kind: park.KindLock, Count: 1}, {Kind: park.KindUser + 6, Count: 1, Total: 62 * time.Second}},
		"any 99.9ms, future 0.1s, group 1s": {{Kind: park.KindAny, Count: 1, Total: 99940 * time.Microsecond},
			{Kind: park.KindFuture, Count: 1, Total: 100 * time.Millisecond}, {Kind: park.KindGroup, Count: 1, Total: 999600 * time.Microsecond}},
	} {
		if got := l.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
