package sqlio_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/sqlio"
)

// One bound over the wait for a connection, the query, and all rows. The database of this example stops after two.
func ExampleQuery() {
	v := clock.NewVirtual()
	s := &store{}
	s.query = s.stopsAfterTwo(func() { v.Advance(time.Second) })
	db := s.pool()
	defer db.Close()

	err := bide.FailAfter(context.Background(), time.Second, func(ctx context.Context) error {
		for n, err := range sqlio.Query(ctx, db, number, "SELECT n FROM numbers") {
			if err != nil {
				return err
			}
			fmt.Println(n)
		}
		return nil
	}, bide.Clock(v), bide.Name("numbers"))
	fmt.Println(err)
	fmt.Println(errors.Is(err, context.DeadlineExceeded), db.Stats().InUse, "connections in use")
	// Output:
	// 1
	// 2
	// bide: numbers: timeout after 1s
	// true 0 connections in use
}
