package bide_test

import (
	"context"
	"fmt"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/syncs"
)

// The error of a bound says where the time went.
func ExampleAccount() {
	virtually(func(ctx context.Context, _ *clock.Virtual) {
		var ready syncs.Event
		var stock syncs.Mutex
		stock.TryLock() // somebody holds it, and does not let go
		err := bide.FailAfter(ctx, 2*time.Second, func(ctx context.Context) error {
			if err := bide.Sleep(ctx, 300*time.Millisecond); err != nil {
				return err
			}
			ready.Set()
			if err := ready.Wait(ctx); err != nil { // was no wait
				return err
			}
			return stock.Lock(ctx)
		}, bide.Name("checkout"), bide.Account())
		fmt.Println(err)
	})
	// Output: bide: checkout: timeout after 2s: lock 1.7s, sleep 300ms
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
