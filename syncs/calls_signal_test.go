package syncs_test

import (
	"context"
	"fmt"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/syncs"
)

// More calls: those of the signals and counters.
func init() {
	calls = append(calls, []struct {
		name string
		make func() call
	}{
		{"AutoEvent.Wait", func() call {
			e := new(syncs.AutoEvent)
			return call{e.Wait, e.Set, e.Set, func() bool { return !e.Queued() }}
		}},
		{"WaitGroup.Wait", func() call {
			g := new(syncs.WaitGroup)
			g.Add(1)
			return call{g.Wait, g.Done, func() {}, func() bool { return !g.Queued() }}
		}},
		{"Sequencer.Wait", func() call {
			s := new(syncs.Sequencer)
			wait := func(ctx context.Context) error { return s.Wait(ctx, 1) }
			return call{wait, s.Increment, func() {}, func() bool { return !s.Queued() }}
		}},
		{"Futex.Wait", func() call {
			f := new(syncs.Futex)
			wait := func(ctx context.Context) error { return f.Wait(ctx, 1) }
			return call{wait, f.Post, func() {}, func() bool { return !f.Queued() }}
		}},
		{"WaitAny of all kinds", func() call {
			e, f, g, s := new(syncs.Event), new(syncs.Future[int]), new(syncs.WaitGroup), new(syncs.Sequencer)
			g.Add(1)
			c := make(chan int)
			wait := func(ctx context.Context) error {
				// The instant is of where the call is made: a bubble's would be past outside.
				far := syncs.At(clock.After(1000 * time.Hour))
				i, err := syncs.WaitAny(ctx, e, far, syncs.Recv(c, nil, nil), f, g, s.At(1))
				if err == nil && i != 5 || err != nil && i != -1 {
					panic(fmt.Sprintf("WaitAny = %d, %v", i, err))
				}
				return err
			}
			clean := func() bool { return !e.Queued() && !f.Queued() && !g.Queued() && !s.Queued() }
			return call{wait, s.Increment, func() {}, clean}
		}},
		{"WaitAny with Recv", func() call {
			e := new(syncs.Event)
			c := make(chan int, 1)
			wait := func(ctx context.Context) error {
				v, ok := 0, false
				i, err := syncs.WaitAny(ctx, e, syncs.Recv(c, &v, &ok))
				if err == nil && (i != 1 || v != 7 || !ok) || err != nil && (i != -1 || v != 0 || ok) {
					panic(fmt.Sprintf("WaitAny = %d, %v; received %d, %v", i, err, v, ok))
				}
				return err
			}
			send := func() { c <- 7 }
			return call{wait, send, send, func() bool { return !e.Queued() }}
		}},
		{"WaitAll", func() call {
			e, f, g, s := new(syncs.Event), new(syncs.Future[int]), new(syncs.WaitGroup), new(syncs.Sequencer)
			f.Set(1)
			wait := func(ctx context.Context) error {
				return syncs.WaitAll(ctx, e, f, g, syncs.At(clock.Now()), s.At(1))
			}
			grant := func() { s.Increment(); e.Set() }
			return call{wait, grant, func() {}, func() bool { return !e.Queued() && !f.Queued() && !s.Queued() }}
		}},
		{"WaitAll with Recv", func() call {
			e := new(syncs.Event)
			c := make(chan int, 1)
			c <- 7
			wait := func(ctx context.Context) error {
				v, ok := 0, false
				err := syncs.WaitAll(ctx, syncs.Recv(c, &v, &ok), e)
				if (err == nil) != (v == 7) || ok != (v == 7) {
					panic(fmt.Sprintf("WaitAll = %v; received %d, %v", err, v, ok))
				}
				return err
			}
			return call{wait, e.Set, func() { c <- 7 }, func() bool { return !e.Queued() }}
		}},
	}...)
}
