package bide_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"bide.invalid/bide"
)

// from is a mirror that answers after d.
func from(mirror string, d time.Duration) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		if err := bide.Sleep(ctx, d); err != nil {
			return "", err
		}
		return "the page from " + mirror, nil
	}
}

// Two redundant requests: the slower one is canceled, and is over when Race returns.
func ExampleRace() {
	page, err := bide.Race(context.Background(), from("here", time.Millisecond), from("the moon", time.Hour))
	fmt.Println(page, err)
	// Output: the page from here <nil>
}

// All or nothing: the values in order, or the first error.
func ExampleAll() {
	pages, err := bide.All(context.Background(), from("here", 2*time.Millisecond), from("there", time.Millisecond))
	fmt.Println(len(pages), pages[1], err)

	_, err = bide.All(context.Background(), from("the moon", time.Hour),
		func(context.Context) (string, error) { return "", errors.New("no such page") })
	fmt.Println(err)
	// Output:
	// 2 the page from there <nil>
	// no such page
}

// A second request is made only if the first takes too long.
func ExampleHedge() {
	var calls atomic.Int32
	page, err := bide.Hedge(context.Background(), time.Millisecond, 3, func(ctx context.Context) (string, error) {
		if calls.Add(1) == 1 { // the first may come late, and run beside the second
			return from("a slow server", time.Hour)(ctx)
		}
		return from("a fast one", 0)(ctx)
	})
	fmt.Println(page, err)
	// Output: the page from a fast one <nil>
}
