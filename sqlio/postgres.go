package sqlio

import (
	"context"
	"database/sql"
	"math"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
)

// margin is what the server gets on top, so that the end on this side comes first, and names who was late.
const margin = time.Second

// The setting is text with a unit, as intervals are. LEAST leaves out what is null: 0, no limit.
const limitStatements = `SELECT set_config('statement_timeout', LEAST(NULLIF(
	(EXTRACT(EPOCH FROM current_setting('statement_timeout')::interval) * 1000)::bigint, 0), $1::bigint)::text, true)`

// PostgresTimeout tells a PostgreSQL server that no further statement of the transaction may take longer than what is
// left to ctx now, and a second more. It is for the case that this process dies, or the network: then nobody cancels, and
// what runs would run on, with its locks. A statement_timeout that is shorter already stays; without a deadline nothing
// is set. It costs one round trip. Call it first in a transaction: with [InTx], in f.
func PostgresTimeout(ctx context.Context, tx *sql.Tx) error {
	left := bide.Remaining(ctx)
	if left == time.Duration(clock.Forever) {
		return nil
	}
	left = min(left, math.MaxInt32*time.Millisecond-margin) // what the setting can hold
	ms := (left + margin + time.Millisecond - 1) / time.Millisecond
	_, err := tx.ExecContext(ctx, limitStatements, int64(ms))
	return fault(ctx, err)
}
