package bide_test

import (
	"context"
	"fmt"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
)

// read stands for a call that knows no context.
func read(release <-chan struct{}) func(context.Context) (string, error) {
	return func(context.Context) (string, error) {
		<-release
		return "data", nil
	}
}

// What cannot be canceled is waited for, and its result is kept, or, with Abandon, left behind.
func ExampleBlocking() {
	release := make(chan struct{})
	err := bide.FailAfter(context.Background(), time.Millisecond, func(ctx context.Context) error {
		_, err := bide.Blocking(ctx, read(release), bide.Abandon())
		return err
	}, bide.Name("read"))
	fmt.Println("in time:", err == nil)

	close(release)
	data, err := bide.Blocking(context.Background(), read(release))
	fmt.Println(data, err)
	// Output:
	// in time: false
	// data <nil>
}

// At most as many abandoned calls are under way as there are slots: here a channel is made into Slots.
func ExampleSlot() {
	virtually(func(ctx context.Context, _ *clock.Virtual) {
		l := make(slots, 1)
		release := make(chan struct{})
		for range 2 {
			err := bide.FailAfter(ctx, time.Minute, func(ctx context.Context) error {
				_, err := bide.Blocking(ctx, read(release), bide.Abandon(), bide.Slot(l))
				return err
			})
			fmt.Println("in time:", err == nil, "under way:", len(l))
		}
		close(release)
	})
	// Output:
	// in time: false under way: 1
	// in time: false under way: 1
}
