package sqlio_test

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/sqlio"
)

// The server is told, too: half a second is left, and it gets a second more, so that the end on this side comes first.
func ExamplePostgresTimeout() {
	s := &store{}
	db := s.pool()
	defer db.Close()

	err := bide.FailAfter(context.Background(), 500*time.Millisecond, func(ctx context.Context) error {
		return sqlio.InTx(ctx, db, nil, func(ctx context.Context, tx *sql.Tx) error {
			if err := sqlio.PostgresTimeout(ctx, tx); err != nil {
				return err
			}
			_, err := tx.ExecContext(ctx, "UPDATE numbers SET n = n + 1")
			return err
		})
	}, bide.Clock(clock.NewVirtual()))
	fmt.Println(err, s.said, "statement_timeout", s.args)
	// Output:
	// <nil> [begin exec exec commit] statement_timeout [1500]
}
