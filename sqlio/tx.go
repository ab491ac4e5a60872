package sqlio

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/park"
)

// A Beginner is what transactions begin on: a *sql.DB or a *sql.Conn.
type Beginner interface {
	BeginTx(ctx context.Context, opts *sql.TxOptions) (*sql.Tx, error)
}

// grace bounds a commit or a rollback.
const grace = 10 * time.Second

// A transaction and its ends. Package sql would roll back on a goroutine of its own when the context of its BeginTx
// ends, which could be in the middle of the commit; so that context follows ctx only while the transaction begins.
//
//	T1  it does not begin: the error of BeginTx
//	T2  it begins
//	T3  it has begun, and ctx has ended meanwhile: rolled back, here or by package sql, whoever is first
//	T4  f returns an error, panics, or calls Goexit: rolled back
//	T5  f returns nil, and ctx has ended: rolled back
//	T6  f returns nil, and the commit is confirmed, before ctx ends or after: nil
//	T7  the server answers the commit by an error, or f has ended the transaction itself: that error
//	T8  the commit is sent and not answered: an *UnknownOutcomeError
//	T9  a hard stop is over already, and nothing can be sent in time: package sql drops the connection, or rolls back

// InTx runs f in a transaction: if f returns nil it is committed, and else rolled back, also if f panics or calls
// runtime.Goexit. opts may be nil. The wait for a connection and the begin are under ctx; f's calls are, by the context that
// they are given. f must neither commit nor roll back, nor keep tx.
//
// When InTx returns the transaction has ended, but for one that is left to a goroutine, as said below, and one that has
// begun although ctx has ended meanwhile: f is not called, and package sql may still be rolling it back, on a goroutine
// of its own.
//
// If ctx has ended when f returns the transaction is rolled back, and the error is the reason of ctx, or f's own. Once
// the commit is sent, ctx does not reach it: a nil error means that it took place, canceled or not. An error means that
// it did not, unless it is an [*UnknownOutcomeError]. So is every error of a commit in which no SQLSTATE is found, which
// the errors of drivers for PostgreSQL have.
//
// Commit and rollback are bounded by 10 seconds, in a shield. One that is not over then is left to a goroutine, which
// keeps the connection until the driver returns; of a rollback that was cut so, a *bide.TimeoutError is joined to the
// result. Other errors of a rollback are not told: a server rolls back what has lost its connection.
func InTx(ctx context.Context, db Beginner, opts *sql.TxOptions, f func(ctx context.Context, tx *sql.Tx) error) (err error) {
	if f == nil {
		panic("bide/sqlio: InTx: nil function")
	}
	if err := park.Err(ctx); err != nil {
		return err
	}
	begin, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil) // T9, and what a driver still does for a call that was left behind
	unfollow := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	tx, err := db.BeginTx(begin, opts)
	following := unfollow()
	if err != nil {
		if !following { // it has ended begin, whose error is not ctx's
			return park.Reason(ctx) // T1
		}
		return err // T1
	}
	roll := true
	defer func() {
		if roll {
			err = rollback(ctx, tx, err)
		}
	}()
	if !following {
		return park.Reason(ctx) // T3
	}
	if err := f(ctx, tx); err != nil { // T2
		return fault(ctx, err) // T4
	}
	if err := park.Err(ctx); err != nil {
		return err // T5
	}
	sent, err := end(ctx, "sqlio: commit", tx.Commit)
	roll = !sent
	switch {
	case err == nil:
		return nil // T6
	case !sent:
		return err // T9
	case errors.Is(err, sql.ErrTxDone):
		return fmt.Errorf("sqlio: InTx: the function has ended the transaction itself: leave that to InTx: %w", err) // T7
	case answered(err):
		return err // T7
	}
	return &UnknownOutcomeError{err} // T8
}

// rollback rolls back, and joins it to err if that was cut.
func rollback(ctx context.Context, tx *sql.Tx, err error) error {
	var cut *bide.TimeoutError
	if _, e := end(ctx, "sqlio: rollback", tx.Rollback); errors.As(e, &cut) {
		return errors.Join(err, e)
	}
	return err
}

// end calls the Commit or Rollback of a transaction, in a shield, and leaves it behind when the grace is over. sent
// reports whether it was called.
func end(ctx context.Context, name string, call func() error) (sent bool, err error) {
	var claim atomic.Bool // of the call: by the goroutine that makes it, or by its being too late for that
	err = bide.Shield(ctx, grace, func(ctx context.Context) error {
		_, err := bide.Blocking(ctx, func(context.Context) (struct{}, error) {
			if claim.Swap(true) {
				return struct{}{}, nil
			}
			return struct{}{}, call()
		}, bide.Abandon())
		return err
	}, bide.Name(name))
	return claim.Swap(true), err
}
