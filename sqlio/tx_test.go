package sqlio_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/bidetest"
	"bide.invalid/bide/sqlio"
)

func fails(err error) func(context.Context) error {
	return func(context.Context) error { return err }
}

// unknown reports whether err is the class, around cause.
func unknown(err, cause error) bool {
	u, ok := err.(*sqlio.UnknownOutcomeError)
	return ok && errors.Is(u, cause)
}

// How a transaction ends, whatever f and the server do. T1 and so on are the transitions in tx.go.
func TestInTx(t *testing.T) {
	good := func(context.Context, *sql.Tx) error { return nil }
	for name, c := range map[string]struct {
		store *store
		f     func(ctx *bide.Scope, tx *sql.Tx) error
		err   func(err error) bool
		said  string
	}{
		"T1 no begin":                  {&store{begin: fails(failure)}, nil, func(err error) bool { return err == failure }, ""},
		"T4 f fails":                   {&store{}, func(*bide.Scope, *sql.Tx) error { return failure }, func(err error) bool { return err == failure }, "begin rollback"},
		"T4 f fails, and the rollback": {&store{roll: fails(io.EOF)}, func(*bide.Scope, *sql.Tx) error { return failure }, func(err error) bool { return err == failure }, "begin rollback"},
		"T4 f rolls back itself":       {&store{}, func(_ *bide.Scope, tx *sql.Tx) error { tx.Rollback(); return failure }, func(err error) bool { return err == failure }, "begin rollback"},
		"T4 f is canceled":             {&store{}, func(s *bide.Scope, _ *sql.Tx) error { s.Cancel(failure); return s.Check() }, func(err error) bool { return errors.Is(err, failure) }, "begin rollback"},
		"T4 f is canceled, by the server": {&store{}, func(s *bide.Scope, _ *sql.Tx) error {
			s.Cancel(failure)
			return fmt.Errorf("load: %w", serverError("57014"))
		}, func(err error) bool {
			return errors.Is(err, failure) && strings.HasSuffix(err.Error(), "(load: server: 57014)")
		}, "begin rollback"},
		"T4 f is canceled, in the driver's words": {&store{}, func(s *bide.Scope, _ *sql.Tx) error {
			s.Cancel(failure)
			return fmt.Errorf("load: %w", s.Err())
		}, func(err error) bool {
			return errors.Is(err, failure) && strings.HasSuffix(err.Error(), "(load: context canceled)")
		}, "begin rollback"},
		"T4 f is canceled, and says why": {&store{}, func(s *bide.Scope, _ *sql.Tx) error {
			s.Cancel(context.Canceled)
			return fmt.Errorf("load: %w", s.Check())
		}, func(err error) bool {
			return errors.As(err, new(*bide.Canceled)) && strings.HasPrefix(err.Error(), "load: bide: canceled")
		}, "begin rollback"},
		"T4 f fails, and is canceled":   {&store{}, func(s *bide.Scope, _ *sql.Tx) error { s.Cancel(nil); return io.EOF }, func(err error) bool { return err == io.EOF }, "begin rollback"},
		"T4 joined":                     {&store{}, func(s *bide.Scope, _ *sql.Tx) error { s.Cancel(nil); return errors.Join(io.EOF, serverError("57014")) }, func(err error) bool { return errors.Is(err, io.EOF) }, "begin rollback"},
		"T5 f ignores the cancellation": {&store{}, func(s *bide.Scope, _ *sql.Tx) error { s.Cancel(failure); return nil }, func(err error) bool { return errors.Is(err, failure) }, "begin rollback"},
		"T6 committed":                  {&store{}, nil, func(err error) bool { return err == nil }, "begin commit"},
		"T7 conflict":                   {&store{commit: fails(serverError("40001"))}, nil, func(err error) bool { return err == serverError("40001") }, "begin commit"},
		"T7 f commits itself": {&store{}, func(_ *bide.Scope, tx *sql.Tx) error { return tx.Commit() }, func(err error) bool {
			return errors.Is(err, sql.ErrTxDone) && strings.HasPrefix(err.Error(), "sqlio: InTx: the function has ended the transaction itself: leave that to InTx")
		}, "begin commit"},
		"T8 connection lost":               {&store{commit: fails(io.EOF)}, nil, func(err error) bool { return unknown(err, io.EOF) }, "begin commit"},
		"T8 the driver has lost it":        {&store{commit: fails(driver.ErrBadConn)}, nil, func(err error) bool { return unknown(err, driver.ErrBadConn) }, "begin commit"},
		"T8 the server has lost it":        {&store{commit: fails(serverError("08006"))}, nil, func(err error) bool { return unknown(err, serverError("08006")) }, "begin commit"},
		"T8 the server shuts down":         {&store{commit: fails(serverError("57P01"))}, nil, func(err error) bool { return unknown(err, serverError("57P01")) }, "begin commit"},
		"T8 the server does not know":      {&store{commit: fails(serverError("40003"))}, nil, func(err error) bool { return unknown(err, serverError("40003")) }, "begin commit"},
		"T8 of several, one is an answer":  {&store{commit: fails(errors.Join(io.EOF, serverError("40001")))}, nil, func(err error) bool { return unknown(err, io.EOF) }, "begin commit"},
		"T8 is no cancellation, by a name": {&store{commit: fails(context.DeadlineExceeded)}, nil, func(err error) bool { return unknown(err, context.DeadlineExceeded) }, "begin commit"},
	} {
		t.Run(name, func(t *testing.T) {
			s := c.store
			inBubble(t, s, func(scope *bide.Scope, db *sql.DB, _ func(time.Duration)) error {
				err := sqlio.InTx(scope, db, &sql.TxOptions{ReadOnly: true}, func(ctx context.Context, tx *sql.Tx) error {
					if c.f == nil {
						return good(ctx, tx)
					}
					return c.f(scope, tx)
				})
				if !c.err(err) {
					t.Errorf("%v (%T)", err, err)
				}
				if in := db.Stats().InUse; in != 0 {
					t.Errorf("%d connections in use when it returns", in)
				}
				return nil
			})
			s.wantSaid(t, strings.Fields(c.said)...)
			if !s.opts.ReadOnly {
				t.Error("the options were not passed on")
			}
		})
	}
}

// T4: what ends f without a result rolls back, too.
func TestInTxPanics(t *testing.T) {
	s := &store{}
	inBubble(t, s, func(ctx *bide.Scope, db *sql.DB, _ func(time.Duration)) error {
		defer func() {
			if recover() != failure || db.Stats().InUse != 0 {
				t.Error("the panic has not come through, or not in the end")
			}
		}()
		return sqlio.InTx(ctx, db, nil, func(context.Context, *sql.Tx) error { panic(failure) })
	})
	s.wantSaid(t, "begin", "rollback")
}

// T4: and what ends its goroutine.
func TestInTxGoexit(t *testing.T) {
	s := &store{}
	inBubble(t, s, func(ctx *bide.Scope, db *sql.DB, _ func(time.Duration)) error {
		over := make(chan int)
		go func() {
			defer func() { over <- db.Stats().InUse }()
			sqlio.InTx(ctx, db, nil, func(context.Context, *sql.Tx) error { runtime.Goexit(); return nil })
			t.Error("it has returned")
		}()
		if in := <-over; in != 0 {
			t.Errorf("%d connections in use", in)
		}
		return nil
	})
	s.wantSaid(t, "begin", "rollback")
}

// T1, T3: the wait for a connection and the begin end with the context; a driver that begins all the same has to roll back.
func TestInTxBeginIsCanceled(t *testing.T) {
	for name, c := range map[string]struct {
		begin func(context.Context) error
		held  bool
		said  []string
	}{
		"the wait":         {nil, true, nil},
		"the begin":        {hang, false, nil},
		"begun by the way": {func(ctx context.Context) error { <-ctx.Done(); return nil }, false, []string{"begin", "rollback"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := &store{begin: c.begin}
			err := inBubble(t, s, func(scope *bide.Scope, db *sql.DB, advance func(time.Duration)) (err error) {
				if c.held {
					held, _ := db.Conn(context.Background())
					defer held.Close()
				}
				over := make(chan bool)
				go func() {
					defer close(over)
					err = sqlio.InTx(scope, db, nil, func(context.Context, *sql.Tx) error {
						t.Error("f was called")
						return nil
					})
				}()
				advance(time.Second)
				<-over
				if err != scope.Cause() {
					t.Errorf("%v (%T), want the reason", err, err)
				}
				return err
			})
			var late *bide.TimeoutError
			if !errors.As(err, &late) {
				t.Errorf("the scope: %v", err)
			}
			s.wantSaid(t, c.said...)
		})
	}
}

func TestInTxIsCanceledBefore(t *testing.T) {
	s := &store{}
	inBubble(t, s, func(scope *bide.Scope, db *sql.DB, _ func(time.Duration)) error {
		scope.Cancel(failure)
		if err := sqlio.InTx(scope, db, nil, func(context.Context, *sql.Tx) error { return nil }); err != scope.Cause() {
			t.Errorf("%v", err)
		}
		return nil
	})
	if s.conns != 0 {
		t.Error("a connection was made")
	}
}

// T6: once the commit is sent the cancellation does not reach it.
func TestInTxCommitIsNotCanceled(t *testing.T) {
	answer := make(chan error)
	s := &store{}
	err := inBubble(t, s, func(scope *bide.Scope, db *sql.DB, advance func(time.Duration)) error {
		answer = make(chan error)
		s.commit = func(ctx context.Context) error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case err := <-answer:
				return err
			}
		}
		done := make(chan error, 1)
		go func() {
			done <- sqlio.InTx(scope, db, nil, func(context.Context, *sql.Tx) error { return nil })
		}()
		advance(time.Second) // of the scope
		advance(grace - time.Second - time.Nanosecond)
		answer <- nil
		if err := <-done; err != nil {
			t.Errorf("a commit that took place: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	s.wantSaid(t, "begin", "commit")
}

// grace as in tx.go.
const grace = 10 * time.Second

// T8: a commit that is not answered, by a driver that ends with its context and by one that does not.
func TestInTxCommitIsNotAnswered(t *testing.T) {
	for _, deaf := range []bool{false, true} {
		t.Run(fmt.Sprint("deaf ", deaf), func(t *testing.T) {
			s := &store{}
			inBubble(t, s, func(scope *bide.Scope, db *sql.DB, advance func(time.Duration)) error {
				answer := make(chan bool)
				s.commit = func(ctx context.Context) error {
					if deaf {
						<-answer
						return nil
					}
					return hang(ctx)
				}
				var moved bool
				done := make(chan error, 1)
				go func() {
					// A scope that is canceled around it must not take the error for a cancellation.
					var err error
					moved, err = bide.MoveOnAfter(scope, time.Millisecond, func(ctx context.Context) error {
						err := sqlio.InTx(ctx, db, nil, func(context.Context, *sql.Tx) error { return nil })
						if err != nil {
							err = fmt.Errorf("order: %w", err)
						}
						return err
					})
					done <- err
				}()
				advance(grace - time.Nanosecond)
				select {
				case err := <-done:
					t.Errorf("early: %v", err)
				default:
				}
				advance(time.Second)
				err := <-done
				var u *sqlio.UnknownOutcomeError
				var late *bide.TimeoutError
				if moved || !errors.As(err, &u) || !errors.As(err, &late) || late.Scope != "sqlio: commit" || late.Limit != grace {
					t.Errorf("%v, %v (%T)", moved, err, err)
				}
				want := "order: sqlio: the commit was sent, and its outcome is unknown: look before you try again: bide: sqlio: commit: timeout after 10s"
				if !strings.HasPrefix(err.Error(), want) {
					t.Errorf("%q", err)
				}
				bidetest.Settle(t)
				if in := db.Stats().InUse; deaf != (in == 1) {
					t.Errorf("%d connections in use", in)
				}
				close(answer)
				bidetest.Settle(t)
				return nil
			})
			s.wantSaid(t, "begin", "commit")
		})
	}
}

// A rollback is out of reach of the cancellation, and bounded; that it was cut is told.
func TestInTxRollbackIsBounded(t *testing.T) {
	for _, deaf := range []bool{false, true} {
		t.Run(fmt.Sprint("deaf ", deaf), func(t *testing.T) {
			s := &store{}
			inBubble(t, s, func(scope *bide.Scope, db *sql.DB, advance func(time.Duration)) error {
				answer := make(chan bool)
				s.roll = func(ctx context.Context) error {
					if ctx.Err() != nil {
						t.Error("a rollback under a context that has ended")
					}
					if deaf {
						<-answer
						return nil
					}
					return hang(ctx)
				}
				done := make(chan error, 1)
				go func() {
					done <- sqlio.InTx(scope, db, nil, func(context.Context, *sql.Tx) error { scope.Cancel(nil); return failure })
				}()
				advance(grace - time.Nanosecond)
				if len(done) > 0 {
					t.Error("early")
				}
				advance(time.Second)
				err := <-done
				var late *bide.TimeoutError
				if !errors.Is(err, failure) || !errors.As(err, &late) || late.Scope != "sqlio: rollback" {
					t.Errorf("%v", err)
				}
				close(answer)
				bidetest.Settle(t)
				return nil
			})
			s.wantSaid(t, "begin", "rollback")
		})
	}
}

// T9: a hard stop that is over leaves no time for a rollback: package sql ends the transaction.
func TestInTxAfterHardStop(t *testing.T) {
	s := &store{}
	inBubble(t, s, func(scope *bide.Scope, db *sql.DB, _ func(time.Duration)) error {
		err := sqlio.InTx(scope, db, nil, func(context.Context, *sql.Tx) error {
			scope.Stop(0, failure)
			return nil
		})
		var cut *bide.TimeoutError
		if !errors.Is(err, failure) || !errors.As(err, &cut) || cut.Scope != "sqlio: rollback" {
			t.Errorf("%v", err)
		}
		bidetest.Settle(t)
		if in := db.Stats().InUse; in != 0 {
			t.Errorf("%d connections in use", in)
		}
		return nil
	})
	s.wantSaid(t, "begin", "rollback")
}

// T9: nor for a commit, which then was not sent, and is not of unknown outcome.
func TestInTxCommitAfterHardStop(t *testing.T) {
	s := &store{}
	inBubble(t, s, func(scope *bide.Scope, db *sql.DB, _ func(time.Duration)) error {
		err := sqlio.InTx(context.WithoutCancel(scope), db, nil, func(context.Context, *sql.Tx) error {
			scope.Stop(0, failure)
			return nil
		})
		var cut *bide.TimeoutError
		var u *sqlio.UnknownOutcomeError
		if !errors.As(err, &cut) || cut.Scope != "sqlio: commit" || errors.As(err, &u) {
			t.Errorf("%v", err)
		}
		bidetest.Settle(t)
		return nil
	})
	s.wantSaid(t, "begin", "rollback")
}
