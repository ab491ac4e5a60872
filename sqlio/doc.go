// Package sqlio puts the calls of database/sql under a context, from the wait for a connection to the last row's end.
//
//	err := bide.FailAfter(ctx, 2*time.Second, func(ctx context.Context) error {
//		for u, err := range sqlio.Query(ctx, db, scanUser, "SELECT id, name FROM users") {
//			if err != nil {
//				return err
//			}
//			…
//		}
//		return sqlio.InTx(ctx, db, nil, func(ctx context.Context, tx *sql.Tx) error { … })
//	})
//
// [Query] is a query as a sequence: its rows are closed on every way out of the loop. [InTx] runs a function in a
// transaction, which has ended when it returns; an [UnknownOutcomeError] says that a commit was sent and not answered.
// [PostgresTimeout] tells a PostgreSQL server how long it may work, for the case that nobody is left to cancel.
//
// # Cancellation
//
//   - A call that a cancellation has ended returns the reason of its context, under a scope its *bide.Canceled; also if
//     the driver calls it something else: the server's "query canceled", SQLSTATE 57014, or what wraps the error of the
//     context. The driver's text is kept.
//   - Rows that have arrived are handed out; the cancellation is seen before the next one is asked for. Rows that were
//     all read before it came are a success.
//   - Until the loop's body is over what scan has taken as sql.RawBytes is the loop's: no other query is given the
//     connection. If it has taken none, a cancellation in the body gives the connection free at once.
//   - A transaction whose context has ended is rolled back, not committed. What ends a transaction is out of reach of
//     the cancellation, and bounded by 10 seconds, on the clock of the scope. But one that begins just when its context
//     ends may be rolled back by package sql, for which nobody waits.
//
// # Duties of the caller
//
//   - The driver has to end its calls when their context ends, as database/sql asks of it; what it does about the
//     query that runs in the server is its own. With jackc/pgx the connection is given up by default. A ctxwatch.Handler
//     that calls CancelRequest, and waits until it returns, keeps it: the canceler in this repository's
//     e2e/postgres_test.go. CancelRequestContextWatcherHandler of pgconn waits no more than 100 ms, and where the server
//     is slower than that the request may hit the connection's next query.
//   - A request to cancel that reaches a PostgreSQL server before its query does finds nothing to cancel, and the driver
//     does not ask again: the query goes on, with nobody to read its result. The server notices that the connection is
//     closed if its client_connection_check_interval is set (from version 14 on), which by default it is not; or the
//     query ends by the statement_timeout that [PostgresTimeout] sets.
//   - A loop that is left early closes its rows. Many drivers then read the rest of the result, as long as the context
//     allows: a query that may be left early has a LIMIT.
//   - Inside of a transaction everything is asked through its *sql.Tx, and one query at a time.
//
// # In tests
//
// In a testing/synctest bubble, and with a virtual clock, with a driver that lives there.
package sqlio
