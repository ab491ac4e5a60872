package bide_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
)

// At most two at a time: Go waits for a slot, TryGo says that there is none.
func ExampleLimit() {
	virtually(func(ctx context.Context, _ *clock.Virtual) {
		var mu sync.Mutex
		running, most := 0, 0
		count := func(more int) {
			mu.Lock()
			defer mu.Unlock()
			running += more
			most = max(most, running)
		}
		err := bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
			for range 6 {
				n.Go(func(ctx context.Context) error {
					count(1)
					defer count(-1)
					return bide.Sleep(ctx, time.Second)
				})
			}
			return nil
		}, bide.Limit(2))
		fmt.Println("at most", most, err)
	})
	// Output: at most 2 <nil>
}

// Work that can be dropped is dropped where there is no room.
func ExampleNursery_TryGo() {
	bide.WithNursery(context.Background(), func(ctx context.Context, n *bide.Nursery) error {
		n.Go(func(ctx context.Context) error { return bide.Sleep(ctx, time.Hour) })
		fmt.Println("room for more:", n.TryGo(func(context.Context) error { return nil }))
		n.Cancel(nil)
		return nil
	}, bide.Limit(1))
	// Output: room for more: false
}

// With Supervise one failure does not end the others; all errors come in the end.
func ExampleSupervise() {
	err := bide.WithNursery(context.Background(), func(ctx context.Context, n *bide.Nursery) error {
		n.Go(func(context.Context) error { return errors.New("no stock") })
		n.Go(func(ctx context.Context) error {
			if err := bide.Sleep(ctx, 10*time.Millisecond); err != nil {
				return err
			}
			return errors.New("no price")
		})
		return nil
	}, bide.Supervise())
	fmt.Println(err)
	// Unordered output:
	// no stock
	// no price
}

// With Repanic a child's panic comes out of WithNursery, after everybody else has ended.
func ExampleRepanic() {
	defer func() {
		e := recover().(*bide.PanicError)
		fmt.Println("recovered:", e.Value, len(e.Stack) > 0)
	}()
	bide.WithNursery(context.Background(), func(ctx context.Context, n *bide.Nursery) error {
		n.Go(func(context.Context) error { panic("a bug") })
		err := bide.Sleep(ctx, time.Hour)
		fmt.Println("the body was canceled:", err != nil)
		return err
	}, bide.Repanic())
	// Output:
	// the body was canceled: true
	// recovered: a bug true
}

// A service outlives the children that use it: the log is there until the last of them has written to it.
func ExampleNursery_Service() {
	lines := make(chan string)
	err := bide.WithNursery(context.Background(), func(ctx context.Context, n *bide.Nursery) error {
		n.Service(func(ctx context.Context) error {
			for {
				select {
				case line := <-lines:
					fmt.Println("log:", line)
				case <-ctx.Done():
					return nil
				}
			}
		})
		n.Go(func(ctx context.Context) error {
			err := bide.Sleep(ctx, time.Hour)
			lines <- "canceled, and cleaning up"
			return err
		})
		n.Cancel(nil)
		return nil
	})
	fmt.Println(err)
	// Output:
	// log: canceled, and cleaning up
	// <nil>
}
