package sqlio_test

import (
	"database/sql"
	"fmt"
	"math"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/sqlio"
)

func TestPostgresTimeout(t *testing.T) {
	for _, c := range []struct {
		left time.Duration
		want string
	}{
		{time.Second, "[2000]"},
		{time.Nanosecond, "[1001]"}, // never early
		{time.Hour, "[3601000]"},
		{30 * 24 * time.Hour, fmt.Sprint("[", math.MaxInt32, "]")},
		{math.MaxInt64 - time.Minute, fmt.Sprint("[", math.MaxInt32, "]")},
		{0, "[]"}, // no deadline
	} {
		s := &store{}
		err := inBubble(t, s, func(scope *bide.Scope, db *sql.DB, _ func(time.Duration)) error {
			scope.SetDeadline(time.Time{})
			if c.left > 0 {
				scope.SetTimeout(c.left)
			}
			return sqlio.InTx(scope, db, nil, sqlio.PostgresTimeout)
		})
		if got := fmt.Sprint(s.args); err != nil || got != c.want {
			t.Errorf("%v left: the setting is %s, %v; want %s", c.left, got, err, c.want)
		}
	}
}

func TestPostgresTimeoutIsCanceled(t *testing.T) {
	inBubble(t, &store{}, func(scope *bide.Scope, db *sql.DB, _ func(time.Duration)) error {
		tx, err := db.Begin()
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback()
		scope.Cancel(failure)
		if err := sqlio.PostgresTimeout(scope, tx); err != scope.Cause() {
			t.Errorf("%v (%T)", err, err)
		}
		return nil
	})
}
