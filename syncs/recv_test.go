package syncs_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/stress"
	"bide.invalid/bide/syncs"
)

// What is there: the first that is ready, in the order of the arguments; the channel is not touched if it is another.
func TestRecvReady(t *testing.T) {
	bg := context.Background()
	var set, never syncs.Event
	set.Set()
	c := make(chan string, 2)
	c <- "a"
	v, ok := "", false
	r := syncs.Recv(c, &v, &ok)
	if i, err := syncs.WaitAny(bg, &never, &set, r); i != 1 || err != nil || v != "" || ok || len(c) != 1 {
		t.Errorf("another: %d, %v, received %q, %v", i, err, v, ok)
	}
	if i, err := syncs.WaitAny(bg, &never, r, &set); i != 1 || err != nil || v != "a" || !ok || len(c) != 0 {
		t.Errorf("the channel: %d, %v, received %q, %v", i, err, v, ok)
	}
	if i, err := syncs.WaitAny(bg, r, &set); i != 1 || err != nil {
		t.Errorf("empty: %d, %v", i, err)
	}
	c <- "b"
	close(c)
	for _, want := range []struct {
		v  string
		ok bool
	}{{"b", true}, {"", false}, {"", false}} {
		if i, err := syncs.WaitAny(bg, r, &set); i != 0 || err != nil || v != want.v || ok != want.ok {
			t.Errorf("closed: %d, %v, received %q, %v, want %v", i, err, v, ok, want)
		}
	}
	if i, err := syncs.WaitAny(bg, syncs.Recv[string](nil, &v, &ok), &set); i != 1 || err != nil {
		t.Errorf("a nil channel: %d, %v", i, err)
	}
	c = make(chan string, 1)
	c <- "dropped"
	if i, err := syncs.WaitAny(bg, syncs.Recv(c, nil, nil)); i != 0 || err != nil || len(c) != 0 {
		t.Errorf("dropped: %d, %v", i, err)
	}
}

// While it waits: a value, the end of the channel, another source, an instant, the end of the context.
func TestBubbleRecvWhileWaiting(t *testing.T) {
	for _, x := range contexts {
		for _, c := range []struct {
			name string
			op   func(c chan int, e *syncs.Event, cancel func())
			want int
			v    int
			ok   bool
		}{
			{"sent", func(c chan int, _ *syncs.Event, _ func()) { c <- 7 }, 1, 7, true},
			{"closed", func(c chan int, _ *syncs.Event, _ func()) { close(c) }, 1, 0, false},
			{"another", func(_ chan int, e *syncs.Event, _ func()) { e.Set() }, 0, -1, true},
			{"instant", func(chan int, *syncs.Event, func()) { time.Sleep(time.Hour) }, 2, -1, true},
			{"canceled", func(_ chan int, _ *syncs.Event, cancel func()) { cancel() }, -1, -1, true},
		} {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := x.make(t)
				var e syncs.Event
				values := make(chan int)
				v, ok := -1, true
				got := make(chan int, 1)
				go func() {
					i, err := syncs.WaitAny(ctx, &e, syncs.Recv(values, &v, &ok), syncs.At(clock.After(time.Hour)))
					if (i == -1) != (err != nil) || err != nil && !x.want(err) {
						t.Errorf("%s, %s: %d, %v", x.name, c.name, i, err)
					}
					got <- i
				}()
				synctest.Wait()
				c.op(values, &e, cancel)
				if i := <-got; i != c.want || v != c.v || ok != c.ok {
					t.Errorf("%s, %s: %d, received %d, %v", x.name, c.name, i, v, ok)
				}
				if e.Queued() {
					t.Errorf("%s, %s: somebody is left in a queue", x.name, c.name)
				}
				if c.name == "closed" {
					return
				}
				select {
				case values <- 1:
					t.Errorf("%s, %s: somebody receives", x.name, c.name)
				default:
				}
			})
		}
	}
}

// Sent, another source set, canceled, in the same instant, before anybody runs: one of them, and the value is either
// received or still there.
func TestBubbleRecvAllAtOnce(t *testing.T) {
	for _, x := range contexts {
		seen := map[int]int{}
		for range 50 {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := x.make(t)
				var e syncs.Event
				values := make(chan int, 1)
				v := 0
				got := make(chan int, 1)
				go func() {
					i, err := syncs.WaitAny(ctx, &e, syncs.Recv(values, &v, nil))
					if (i == -1) != (err != nil) || err != nil && !x.want(err) {
						t.Errorf("%s: %d, %v", x.name, i, err)
					}
					got <- i
				}()
				synctest.Wait()
				e.Set()
				values <- 7
				cancel()
				i := <-got
				seen[i]++
				if (i == 1) != (v == 7) || (i == 1) != (len(values) == 0) {
					t.Errorf("%s: %d, received %d, %d left", x.name, i, v, len(values))
				}
			})
		}
		t.Logf("%s: %v", x.name, seen)
	}
}

// Values are neither lost nor doubled, whoever else ends the waits.
func TestStressRecv(t *testing.T) {
	const senders, workers = 2, 5
	source, more := stress.Source(t), stress.Lasting(t, 2)
	values := make(chan int64)
	end := open(t, context.Background())
	var e syncs.Event
	var s syncs.Sequencer
	var sent, received, failed, others atomic.Int64
	var sum, got atomic.Int64
	var sending, group sync.WaitGroup
	for g := range senders {
		sending.Go(func() {
			r := source(workers + g)
			for more() {
				v := r.Int64N(1 << 30)
				sum.Add(v)
				sent.Add(1)
				values <- v
				switch r.IntN(8) {
				case 0:
					e.Set()
					e.Reset()
				case 1:
					s.Increment()
				}
			}
		})
	}
	for g := range workers {
		group.Go(func() {
			r := source(g)
			for end.Err() == nil {
				v, ok, i := int64(-1), false, -1
				at := s.Get() + 1
				all := r.IntN(4) == 0
				err := underAlways(r, end, func(ctx context.Context) (err error) {
					if all {
						if err = syncs.WaitAll(ctx, s.At(at-1), syncs.Recv(values, &v, &ok)); err == nil {
							i = 1
						}
						return err
					}
					i, err = syncs.WaitAny(ctx, s.At(at), syncs.Recv(values, &v, &ok), &e)
					return err
				})
				switch {
				case i == 1:
					received.Add(1)
					got.Add(v)
					if !ok || v < 0 {
						t.Errorf("received %d, %v", v, ok)
					}
				case v != -1:
					t.Errorf("received %d, and returned %d, %v", v, i, err)
				case i < 0:
					failed.Add(1)
				default:
					others.Add(1)
				}
			}
		})
	}
	sending.Wait()
	end.Cancel(nil)
	group.Wait()
	if sent.Load() != received.Load() || sum.Load() != got.Load() || e.Queued() || s.Queued() {
		t.Errorf("%d sent, %d received", sent.Load(), received.Load())
	}
	t.Logf("received %d, failed %d, others %d", received.Load(), failed.Load(), others.Load())
}
