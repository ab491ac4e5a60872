package sqlio

import (
	"context"
	"database/sql"
	"iter"

	"bide.invalid/bide/park"
)

// A Querier is what queries are asked through: a *sql.DB, a *sql.Conn or a *sql.Tx.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Query is the rows of a query, each made into a value by scan, which calls Scan of the rows, and not Next. The query is
// asked when the loop begins, and again by each further loop over the sequence; the wait for a connection, the query,
// and all that is read of it are under ctx.
//
// An error is the last that the loop gets, and comes with T's zero value: of the query, of a row, or of scan; if it is a
// cancellation it is the reason of ctx. When the loop gets it, and when the loop ends in whatever way, by break, return or
// panic, the rows are closed and the connection is free. Only the first of several result sets is read.
//
// Beside database/sql it costs a look at ctx for each row. What scan takes as sql.RawBytes is good until the body's end.
func Query[T any](ctx context.Context, q Querier, scan func(*sql.Rows) (T, error), query string, args ...any) iter.Seq2[T, error] {
	if scan == nil {
		panic("bide/sqlio: Query: nil scan")
	}
	return func(yield func(T, error) bool) {
		var none T
		rows, err := q.QueryContext(ctx, query, args...)
		if err != nil {
			yield(none, fault(ctx, err))
			return
		}
		defer rows.Close()
		for {
			if err = park.Err(ctx); err != nil || !rows.Next() {
				break
			}
			var v T
			if v, err = scan(rows); err != nil {
				break
			}
			if !yield(v, nil) {
				return
			}
		}
		if err == nil {
			err = rows.Err()
		}
		rows.Close() // the loop's body may need the connection to deal with the error
		if err != nil {
			yield(none, fault(ctx, err))
		}
	}
}
