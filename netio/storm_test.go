package netio_test

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"net"
	"runtime"
	"sync"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/internal/stress"
	"bide.invalid/bide/netio"
)

// Cancels aimed at every moment of a transfer: every operation ends, and every byte arrives, once and in order, though
// writer and reader change their scopes all the time.
func TestStormCancels(t *testing.T) {
	seed := stress.Seed(t)
	for _, kind := range []string{"tcp", "pipe"} {
		t.Run(kind, func(t *testing.T) {
			var a, b net.Conn
			if kind == "tcp" {
				a, b = loopback(t)
			} else {
				a, b = net.Pipe()
			}
			w, r := netio.New(a), netio.New(b)
			n := 3000
			if testing.Short() {
				n = 500
			}
			data := make([]byte, 8*n)
			for i := range n {
				binary.BigEndian.PutUint64(data[8*i:], uint64(i))
			}
			var cut [2]int
			var all sync.WaitGroup
			all.Go(func() {
				rng := rand.New(rand.NewPCG(seed, 1))
				for left := data; len(left) > 0; {
					under(t, rng, func(ctx context.Context) error {
						if len(left) == 0 {
							return context.Canceled
						}
						k, err := w.WriteContext(ctx, left[:min(len(left), 1+rng.IntN(16))])
						left = left[k:]
						if err != nil {
							cut[0]++
						}
						return err
					})
				}
				w.Close()
			})
			var got []byte
			all.Go(func() {
				rng := rand.New(rand.NewPCG(seed, 2))
				buf := make([]byte, 32)
				for len(got) < len(data) {
					under(t, rng, func(ctx context.Context) error {
						if len(got) == len(data) {
							return context.Canceled
						}
						k, err := r.ReadContext(ctx, buf[:1+rng.IntN(len(buf))])
						got = append(got, buf[:k]...)
						if err != nil {
							cut[1]++
						}
						return err
					})
				}
				r.Close()
			})
			all.Wait()
			for i := range n {
				if got := binary.BigEndian.Uint64(got[8*i:]); got != uint64(i) {
					t.Fatalf("at %d came %d", i, got)
				}
			}
			t.Logf("writes cut off: %d, reads: %d", cut[0], cut[1])
		})
	}
}

// under calls op a few times under a context of some kind that is canceled at some moment.
func under(t *testing.T, rng *rand.Rand, op func(ctx context.Context) error) {
	ctx, cancel := kinds[rng.IntN(len(kinds))].below(context.Background(), time.Hour)
	gate := make(chan struct{})
	pause, times := rng.IntN(30), rng.IntN(4)
	go func() {
		<-gate
		for range pause {
			runtime.Gosched()
		}
		cancel(errTest)
	}()
	close(gate)
	for range times {
		if err := op(ctx); err != nil {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
			break
		}
	}
	cancel(errTest)
	if s, ok := ctx.(*bide.Scope); ok {
		s.Close(nil)
	}
}

// Closes aimed at operations: they end, and the connection is filed nowhere.
func TestStormCloses(t *testing.T) {
	seed := stress.Seed(t)
	rng := rand.New(rand.NewPCG(seed, 3))
	s := bide.Open(t.Context())
	defer s.Close(nil)
	for range 500 {
		a, b := net.Pipe()
		c := netio.New(a)
		var all sync.WaitGroup
		for range 2 {
			pause := rng.IntN(20)
			all.Go(func() {
				for range pause {
					runtime.Gosched()
				}
				c.ReadContext(s, make([]byte, 1))
			})
		}
		pause := rng.IntN(20)
		all.Go(func() {
			for range pause {
				runtime.Gosched()
			}
			c.Close()
		})
		all.Wait()
		b.Close()
		if netio.Filed(c) {
			t.Fatal("a closed connection is filed")
		}
	}
}
