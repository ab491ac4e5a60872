package sqlio

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"bide.invalid/bide"
	"bide.invalid/bide/park"
)

// fault is the error err of a call under ctx, which is the reason of ctx if that is what it means.
func fault(ctx context.Context, err error) error {
	reason := park.Err(ctx)
	switch {
	case reason == nil || wraps(err, reason):
		return err
	case err == ctx.Err(): // package sql's and drivers' word for it
		return reason
	case state(err) == queryCanceled || wraps(err, ctx.Err()):
		return fmt.Errorf("%w (%v)", reason, err)
	}
	return err
}

// wraps reports whether err is end, or an annotation of it: "timeout: context deadline exceeded", as jackc/pgx says. What
// another scope was canceled with is not looked into.
func wraps(err, end error) bool {
	for ; err != nil; err = errors.Unwrap(err) {
		if err == end {
			return true
		}
		if _, ok := err.(*bide.Canceled); ok {
			return false
		}
	}
	return false
}

// The SQLSTATE of a query that was canceled on request.
const queryCanceled = "57014"

// state is the SQLSTATE by which the server has answered, or "". The errors of jackc/pgx and lib/pq have this method. An
// error that wraps several is somebody's verdict about them, and no answer.
func state(err error) string {
	for ; err != nil; err = errors.Unwrap(err) {
		if e, ok := err.(interface{ SQLState() string }); ok {
			return e.SQLState()
		}
	}
	return ""
}

// answered reports whether err, the error of a commit, is the server's word that it did not happen. driver.ErrBadConn is
// not, though it is meant for what was not sent: drivers return it for a connection that was lost in the middle, too.
func answered(err error) bool {
	s := state(err)
	return s != "" &&
		!strings.HasPrefix(s, "08") && // the connection was lost
		s != "40003" && // the server does not know either
		!strings.HasPrefix(s, "57P") // it shuts down, perhaps in the middle of it
}

// An UnknownOutcomeError says that a commit was sent, and that nobody knows whether it took place: the connection was
// lost, or the answer did not come in time. Who tries again may do it twice; look first, or make it harmless.
//
// errors.Is and errors.As find Err in it. To every scope around it is an ordinary error, whatever Err is: a
// cancellation does not swallow it.
type UnknownOutcomeError struct {
	Err error // what came instead of an answer; if nothing did in time, a *bide.TimeoutError
}

// Error says so, and what came.
func (e *UnknownOutcomeError) Error() string {
	return "sqlio: the commit was sent, and its outcome is unknown: look before you try again: " + e.Err.Error()
}

// Unwrap is a list, since a chain that ends in a cancellation would be one.
func (e *UnknownOutcomeError) Unwrap() []error { return []error{e.Err} }
