//go:build linux

package e2e

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"bide.invalid/bide"
	"bide.invalid/bide/sqlio"
)

// table makes an empty table, at whose commits a trigger runs body.
func (p *postgres) table(t *testing.T, atCommit string) {
	t.Helper()
	p.exec(t, "DROP TABLE IF EXISTS words", "CREATE TABLE words (word text UNIQUE DEFERRABLE INITIALLY DEFERRED)",
		"CREATE OR REPLACE FUNCTION at_commit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "+atCommit+" RETURN NULL; END $$",
		"CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON words DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION at_commit()")
}

func insert(word string) func(ctx context.Context, tx *sql.Tx) error {
	return func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO words VALUES ($1)", word)
		return err
	}
}

func (p *postgres) words(t *testing.T) string {
	t.Helper()
	s, err := one(context.Background(), p.admin, "SELECT coalesce(string_agg(word, ' ' ORDER BY word), '') FROM words")
	if err != nil {
		t.Error(err)
	}
	return s
}

func TestInTx(t *testing.T) {
	eachWay(t, 1, func(t *testing.T, p *postgres, db *sql.DB, _ bool) {
		p.table(t, "")
		ctx := context.Background()
		if err := sqlio.InTx(ctx, db, nil, insert("kept")); err != nil {
			t.Error(err)
		}
		failure := errors.New("failure")
		err := sqlio.InTx(ctx, db, nil, func(ctx context.Context, tx *sql.Tx) error {
			return errors.Join(failure, insert("dropped")(ctx, tx))
		})
		if !errors.Is(err, failure) {
			t.Error(err)
		}
		// The server answers the commit: it did not take place, and that is known.
		var unknown *sqlio.UnknownOutcomeError
		var answer *pgconn.PgError
		err = sqlio.InTx(ctx, db, nil, insert("kept"))
		if !errors.As(err, &answer) || answer.Code != "23505" || errors.As(err, &unknown) {
			t.Errorf("%v (%T)", err, err)
		}
		if got := p.words(t); got != "kept" {
			t.Errorf("the table has %q", got)
		}
	})
}

// The rollback is out of reach of what has ended the transaction: where the connection survives that, it is kept.
func TestInTxIsCanceledRealTime(t *testing.T) {
	eachWay(t, 1, func(t *testing.T, p *postgres, db *sql.DB, keeps bool) {
		p.table(t, "")
		pid := func() string {
			s, err := one(context.Background(), db, "SELECT pg_backend_pid()::text")
			if err != nil {
				t.Error(err)
			}
			return s
		}
		before := pid()
		err := bide.Run(context.Background(), func(s *bide.Scope) error {
			var bound sync.WaitGroup
			defer bound.Wait()
			return sqlio.InTx(s, db, nil, func(ctx context.Context, tx *sql.Tx) error {
				if err := insert("dropped")(ctx, tx); err != nil {
					return err
				}
				bound.Go(func() { // not before the server is at work: or there would be nothing to cancel
					_, err := p.active("SELECT pg_sleep(1000)")
					if err != nil {
						t.Error(err)
					}
					s.SetTimeout(time.Millisecond)
				})
				_, err := tx.ExecContext(ctx, "SELECT pg_sleep(1000)")
				return err
			})
		}, bide.Name("tx"))
		var late *bide.TimeoutError
		if !errors.As(err, &late) || late.Scope != "tx" {
			t.Errorf("%v (%T)", err, err)
		}
		// Nor is a function that computes, and does not look at its context, committed.
		err = bide.Run(context.Background(), func(s *bide.Scope) error {
			return sqlio.InTx(s, db, nil, func(_ context.Context, tx *sql.Tx) error {
				if err := insert("dropped")(context.Background(), tx); err != nil {
					return err
				}
				s.SetTimeout(20 * time.Millisecond) // not before: the driver drops a connection whose ping is canceled
				_, err := tx.ExecContext(context.Background(), "SELECT pg_sleep(0.1)")
				return err
			})
		})
		if !errors.As(err, &late) {
			t.Errorf("%v (%T)", err, err)
		}
		if got := p.words(t); got != "" {
			t.Errorf("the table has %q", got)
		}
		if after := pid(); keeps != (before == after) {
			t.Errorf("backend %s before, %s after", before, after)
		}
	})
}

// active waits until a query is at work in the server, and returns the process.
func (p *postgres) active(query string) (pid string, err error) {
	err = until(query, func(ctx context.Context) bool {
		pid, _ = one(ctx, p.admin, "SELECT pid::text FROM pg_stat_activity WHERE state = 'active' AND query = $1", query)
		return pid != ""
	})
	return pid, err
}

// atCommit runs f when a commit is at work in the server, which takes a second more.
func (p *postgres) atCommit(t *testing.T, db *sql.DB, f func(s *bide.Scope, pid string)) error {
	t.Helper()
	p.table(t, "PERFORM pg_advisory_xact_lock(1); PERFORM pg_sleep(1);")
	held, err := p.admin.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if _, err := held.ExecContext(context.Background(), "SELECT pg_advisory_lock(1)"); err != nil {
		t.Fatal(err)
	}
	return bide.Run(context.Background(), func(s *bide.Scope) error {
		return bide.WithNursery(context.Background(), func(ctx context.Context, n *bide.Nursery) error {
			n.Go(func(ctx context.Context) error {
				pid, err := p.active("commit")
				f(s, pid)
				_, unlockErr := held.ExecContext(ctx, "SELECT pg_advisory_unlock(1)")
				return errors.Join(err, unlockErr)
			})
			return sqlio.InTx(s, db, nil, insert("word"))
		})
	})
}

// A commit that has been sent is not cut off.
func TestInTxIsCanceledAtCommitRealTime(t *testing.T) {
	eachWay(t, 1, func(t *testing.T, p *postgres, db *sql.DB, _ bool) {
		var check error
		err := p.atCommit(t, db, func(s *bide.Scope, _ string) {
			s.Cancel(nil)
			check = s.Check()
		})
		if err != nil || check == nil {
			t.Errorf("%v; the scope: %v", err, check)
		}
		if got := p.words(t); got != "word" {
			t.Errorf("the table has %q", got)
		}
	})
}

// The server dies at a commit: nobody has told us whether it took place.
func TestInTxUnknownOutcomeRealTime(t *testing.T) {
	eachWay(t, 1, func(t *testing.T, p *postgres, db *sql.DB, _ bool) {
		err := p.atCommit(t, db, func(_ *bide.Scope, pid string) {
			p.exec(t, fmt.Sprintf("SELECT pg_terminate_backend(%s)", pid))
		})
		var unknown *sqlio.UnknownOutcomeError
		if !errors.As(err, &unknown) {
			t.Errorf("%v (%T)", err, err)
		}
	})
}

// The server ends by itself what nobody is left to cancel; and no bound of ours widens the server's own.
func TestPostgresTimeoutRealTime(t *testing.T) {
	eachWay(t, 1, func(t *testing.T, _ *postgres, db *sql.DB, _ bool) {
		for own, want := range map[string]string{"0": "61s", "20s": "20s", "1h": "61s", "2d": "61s"} {
			v := context.Background()
			err := bide.FailAfter(v, time.Minute, func(ctx context.Context) error {
				return sqlio.InTx(ctx, db, nil, func(ctx context.Context, tx *sql.Tx) error {
					if _, err := tx.ExecContext(ctx, "SET LOCAL statement_timeout = '"+own+"'"); err != nil {
						return err
					}
					if err := sqlio.PostgresTimeout(ctx, tx); err != nil {
						return err
					}
					ms, err := one(ctx, tx, "SELECT setting FROM pg_settings WHERE name = 'statement_timeout'")
					got, _ := time.ParseDuration(ms + "ms")
					limit, _ := time.ParseDuration(want)
					if got > limit || want == "20s" && got != limit || got <= time.Second {
						t.Errorf("with %s: %v, want at most %v", own, got, limit)
					}
					return err
				})
			})
			if err != nil {
				t.Error(err)
			}
		}
		if ms, err := one(context.Background(), db, "SHOW statement_timeout"); ms != "0" || err != nil {
			t.Errorf("after the transaction: %s, %v", ms, err)
		}
		err := bide.FailAfter(context.Background(), time.Millisecond*200, func(ctx context.Context) error {
			return sqlio.InTx(ctx, db, nil, func(ctx context.Context, tx *sql.Tx) error {
				if err := sqlio.PostgresTimeout(ctx, tx); err != nil {
					return err
				}
				_, err := tx.ExecContext(context.Background(), "SELECT pg_sleep(1000)") // nobody cancels it
				var answer *pgconn.PgError
				if !errors.As(err, &answer) || answer.Code != "57014" {
					t.Errorf("%v (%T)", err, err)
				}
				return err
			})
		})
		var late *bide.TimeoutError
		if !errors.As(err, &late) {
			t.Errorf("%v (%T)", err, err)
		}
	})
}
