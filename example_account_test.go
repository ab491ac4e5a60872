package bide_test

import (
	"context"
	"fmt"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/park"
	"bide.invalid/bide/syncs"
)

// The error of a bound says where the time went.
func ExampleAccount() {
	virtually(func(ctx context.Context, _ *clock.Virtual) {
		conns := syncs.Pool[string]{New: func(context.Context) (string, error) { return "conn", nil }, Max: 1}
		var stock syncs.Mutex
		conn, _ := conns.Get(ctx) // somebody has the only one, and the lock
		stock.TryLock()
		go func() {
			bide.Sleep(ctx, 1700*time.Millisecond)
			conns.Put(conn)
			bide.Sleep(ctx, 200*time.Millisecond)
			stock.Unlock()
		}()

		err := bide.FailAfter(ctx, 2*time.Second, func(ctx context.Context) error {
			c, err := conns.Get(ctx)
			if err != nil {
				return err
			}
			defer conns.Put(c)
			if err := stock.Lock(ctx); err != nil {
				return err
			}
			defer stock.Unlock()
			return answer(ctx, make(chan string)) // nobody answers
		}, bide.Name("checkout"), bide.Account())
		fmt.Println(err)
		conns.Close()
	})
	// Output: bide: checkout: timeout after 2s: pool 1.7s, lock 0.2s, read 0.1s
}

// answer waits for one from a peer, in a kind of wait that the ledger shows by its name.
func answer(ctx context.Context, answers <-chan string) error {
	w := park.Get()
	defer park.Put(w)
	_, _, _, o := park.WaitRecv(ctx, w, w.Arm(clock.Forever), park.KindRead, answers)
	if o == park.Canceled {
		return park.Reason(ctx)
	}
	return nil
}

// A transfer may take as long as it likes, as long as it goes on.
func ExampleIdle() {
	virtually(func(ctx context.Context, _ *clock.Virtual) {
		err := bide.Run(ctx, func(s *bide.Scope) error {
			for piece := range 100 {
				pause := 20 * time.Second
				if piece == 3 {
					pause = time.Hour // the peer has gone away
				}
				if err := bide.Sleep(s, pause); err != nil {
					return err
				}
				s.Progress()
			}
			return nil
		}, bide.Idle(30*time.Second), bide.Name("upload"))
		fmt.Println(err)
	})
	// Output: bide: upload: timeout after 30s without progress: waiting for sleep; ended after 1m30s
}

// Work under one context that is to end with another one, too: a request that the server's shutdown ends.
func ExampleScope_Link() {
	server := bide.Open(context.Background(), bide.Name("server"))
	err := bide.Run(context.Background(), func(request *bide.Scope) error {
		unlink := request.Link(server)
		defer unlink()
		server.Cancel(fmt.Errorf("shutting down"))
		return bide.Sleep(request, time.Hour)
	})
	fmt.Println(err, server.Cause())
	server.Close(nil)
	// Output: <nil> bide: canceled by cancel of scope "server": shutting down
}
