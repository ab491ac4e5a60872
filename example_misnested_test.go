package bide_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"bide.invalid/bide"
)

// The outer scope was closed first: a defer that is missing, or in the wrong place.
func Example_misnested() {
	outer := bide.Open(context.Background(), bide.Name("outer"))
	inner := bide.Open(outer, bide.Name("inner"))
	inner.Done() // somebody waits under it

	var err error
	outer.Close(&err)
	fmt.Println(errors.Is(err, bide.ErrMisnested))
	fmt.Println(inner.Cause())
	inner.Close(nil)
	// Output:
	// true
	// bide: canceled by the end of its scope
}

// A child that ends its goroutine, as testing's FailNow does, has failed.
func Example_goexit() {
	err := bide.WithNursery(context.Background(), func(ctx context.Context, n *bide.Nursery) error {
		n.Go(func(context.Context) error { runtime.Goexit(); return nil })
		return nil
	})
	fmt.Println(errors.Is(err, bide.ErrGoexit))
	// Output: true
}
