package syncs_test

import (
	"context"
	"sync/atomic"

	"github.com/anishathalye/porcupine"

	"bide.invalid/bide/syncs"
)

func init() {
	linear = append(linear,
		subject{"Semaphore", semaphoreSteps(func() permits { return syncs.NewSemaphore(semaphoreSize) }, 1), semaphoreModel(1)},
		subject{"Semaphore, weighted", semaphoreSteps(func() permits { return syncs.NewSemaphore(semaphoreSize) }, 3), semaphoreModel(3)},
	)
	broken = append(broken,
		subject{"Semaphore, a canceled Acquire loses permits",
			semaphoreSteps(func() permits { return losingSemaphore{syncs.NewSemaphore(semaphoreSize)} }, 1), semaphoreModel(1)},
		subject{"Semaphore, one too many", semaphoreSteps(func() permits { return &wideSemaphore{Semaphore: syncs.NewSemaphore(semaphoreSize)} }, 1), semaphoreModel(1)},
	)
}

// Semaphore: how many permits there are, and how many are taken. If all ask for one, TryAcquire fails only if all are
// taken; else it may fail because somebody waits for more, which the model does not know.

const semaphoreSize = 3

type permits interface {
	Acquire(ctx context.Context, n int64) error
	TryAcquire(n int64) bool
	Release(n int64)
	SetSize(n int64)
}

type semaphoreState struct{ size, held int }

func semaphoreModel(most int) porcupine.Model {
	return stepper(semaphoreState{size: semaphoreSize}, func(s semaphoreState, o op, r res) (bool, semaphoreState) {
		switch o.do {
		case "acquire":
			switch {
			case r.v < 0: // too large
				return o.arg > s.size, s
			case !r.ok: // of TryAcquire
				return most > 1 || s.held >= s.size, s
			}
			return s.held+o.arg <= s.size, semaphoreState{s.size, s.held + o.arg}
		case "release":
			return s.held >= o.arg, semaphoreState{s.size, s.held - o.arg}
		case "all":
			return r.ok == (s.held == 0), semaphoreState{s.size, o.arg}
		}
		return true, semaphoreState{o.arg, s.held}
	})
}

func semaphoreSteps(make func() permits, most int) func() (func(c *client, i int), func(c *client)) {
	return func() (func(c *client, i int), func(c *client)) {
		s := make()
		var done atomic.Int64
		step := func(c *client, i int) {
			n := 1 + c.r.IntN(most)
			var r res
			switch k := c.r.IntN(12); {
			case k == 0:
				size := 1 + c.r.IntN(semaphoreSize)
				c.do(op{"size", size}, func() res { s.SetSize(int64(size)); return res{ok: true} })
				return
			case k < 3:
				r = c.do(op{"acquire", n}, func() res { return res{ok: s.TryAcquire(int64(n))} })
			default:
				r = c.wait(op{"acquire", n}, func(ctx context.Context) (int, error) {
					err := s.Acquire(ctx, int64(n))
					if err == syncs.ErrTooLarge {
						return -1, nil
					}
					return 0, err
				})
			}
			if r.ok && r.v == 0 {
				for range c.r.IntN(12) {
					yield()
				}
				c.do(op{"release", n}, func() res { s.Release(int64(n)); return res{ok: true} })
			}
		}
		return step, func(c *client) {
			if done.Add(1) == 4 { // nobody has any more
				c.do(op{"size", semaphoreSize}, func() res { s.SetSize(semaphoreSize); return res{ok: true} })
				c.do(op{"all", semaphoreSize}, func() res { return res{ok: s.TryAcquire(semaphoreSize)} })
			}
		}
	}
}

// losingSemaphore takes a permit for an Acquire that fails.
type losingSemaphore struct{ *syncs.Semaphore }

func (s losingSemaphore) Acquire(ctx context.Context, n int64) error {
	err := s.Semaphore.Acquire(ctx, n)
	if err != nil && err != syncs.ErrTooLarge {
		s.Semaphore.TryAcquire(1)
	}
	return err
}

// wideSemaphore gives one more than there is, now and then.
type wideSemaphore struct {
	*syncs.Semaphore
	n, more atomic.Int64
}

func (s *wideSemaphore) TryAcquire(n int64) bool {
	if s.n.Add(1)%3 == 0 {
		s.more.Add(1)
		return true
	}
	return s.Semaphore.TryAcquire(n)
}

func (s *wideSemaphore) Release(n int64) {
	if m := s.more.Load(); m > 0 && s.more.CompareAndSwap(m, m-1) {
		return
	}
	s.Semaphore.Release(n)
}
