package sqlio_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"

	"bide.invalid/bide"
	"bide.invalid/bide/sqlio"
)

// A transaction is committed if its function succeeds, and rolled back if it does not, or if the context has ended.
func ExampleInTx() {
	s := &store{}
	db := s.pool()
	defer db.Close()

	err := sqlio.InTx(context.Background(), db, nil, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE numbers SET n = n + $1", 1)
		return err
	})
	fmt.Println(err, s.said)

	s.said = nil
	err = bide.Run(context.Background(), func(scope *bide.Scope) error {
		err := sqlio.InTx(scope, db, nil, func(ctx context.Context, tx *sql.Tx) error {
			scope.Cancel(errors.New("the customer has left"))
			return nil // and did not notice
		})
		fmt.Println(err)
		return err
	})
	fmt.Println(err, s.said)
	// Output:
	// <nil> [begin exec commit]
	// bide: canceled by cancel: the customer has left
	// <nil> [begin rollback]
}

// The answer to the commit was lost: perhaps it took place. The scope around it is canceled, and yet does not drop that
// error.
func ExampleUnknownOutcomeError() {
	s := &store{}
	db := s.pool()
	defer db.Close()

	err := bide.Run(context.Background(), func(scope *bide.Scope) error {
		s.commit = func(context.Context) error {
			scope.Cancel(nil)
			return os.ErrDeadlineExceeded // of the connection
		}
		return sqlio.InTx(scope, db, nil, func(ctx context.Context, tx *sql.Tx) error { return nil })
	})
	var unknown *sqlio.UnknownOutcomeError
	fmt.Println(errors.As(err, &unknown))
	fmt.Println(err)
	// Output:
	// true
	// sqlio: the commit was sent, and its outcome is unknown: look before you try again: i/o timeout
}
