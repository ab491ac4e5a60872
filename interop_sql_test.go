package bide_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/bidetest"
)

// Package database/sql, in bubbles: what is left behind there is seen.

// A store is a driver, whose connections do what the query's text says. It remembers what it was told.
type store struct {
	mu     sync.Mutex
	conns  int   // made
	closed int   // of them
	cause  error // of the context of the latest call that hung
	ends   []string
}

func (s *store) Connect(context.Context) (driver.Conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns++
	return &storeConn{s}, nil
}
func (s *store) Driver() driver.Driver { return nil }

// hang waits for ctx, as a driver does that sends its server a cancel.
func (s *store) hang(ctx context.Context) error {
	<-ctx.Done()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cause = context.Cause(ctx)
	return ctx.Err()
}

func (s *store) ended(how string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ends = append(s.ends, how)
	return nil
}

type storeConn struct{ s *store }

func (c *storeConn) Prepare(string) (driver.Stmt, error) {
	return nil, errors.New("no statements here")
}
func (c *storeConn) Begin() (driver.Tx, error) { return nil, errors.New("no Begin without a context") }
func (c *storeConn) Close() error {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.closed++
	return nil
}

func (c *storeConn) BeginTx(ctx context.Context, _ driver.TxOptions) (driver.Tx, error) {
	return storeTx{c.s}, ctx.Err()
}

func (c *storeConn) QueryContext(ctx context.Context, query string, _ []driver.NamedValue) (driver.Rows, error) {
	if query == "hang" {
		return nil, c.s.hang(ctx)
	}
	return &storeRows{ctx: ctx, s: c.s, hang: query == "hang after two rows"}, ctx.Err()
}

type storeTx struct{ s *store }

func (t storeTx) Commit() error   { return t.s.ended("commit") }
func (t storeTx) Rollback() error { return t.s.ended("rollback") }

// storeRows are two rows, and then the end or nothing.
type storeRows struct {
	ctx  context.Context
	s    *store
	n    int
	hang bool
}

func (r *storeRows) Columns() []string { return []string{"n"} }
func (r *storeRows) Close() error      { return nil }
func (r *storeRows) Next(dest []driver.Value) error {
	if r.n++; r.n <= 2 {
		dest[0] = int64(r.n)
		return nil
	}
	if r.hang {
		return r.s.hang(r.ctx)
	}
	return io.EOF
}

type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// count counts the rows of a query.
func count(ctx context.Context, from querier, query string) (n int, err error) {
	rows, err := from.QueryContext(ctx, query)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		n++
	}
	return n, rows.Err()
}

// sqlCalls are what may take too long: each hangs until its context ends.
var sqlCalls = []struct {
	name string
	call func(ctx context.Context, db *sql.DB) error
	wait bool // in the pool, not in the driver
	ends string
}{
	{"a query", func(ctx context.Context, db *sql.DB) error {
		_, err := count(ctx, db, "hang")
		return err
	}, false, ""},
	{"rows", func(ctx context.Context, db *sql.DB) error {
		n, err := count(ctx, db, "hang after two rows")
		if n != 2 {
			return fmt.Errorf("%d rows: %w", n, failure)
		}
		return err
	}, false, ""},
	{"a query in a transaction", func(ctx context.Context, db *sql.DB) error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return errors.Join(failure, err)
		}
		defer tx.Rollback()
		_, err = count(ctx, tx, "hang")
		return err
	}, false, "rollback"},
	{"a transaction in which nobody waits for the database", func(ctx context.Context, db *sql.DB) error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return errors.Join(failure, err)
		}
		_ = bide.Sleep(ctx, time.Hour) // forgets the error, and rolls nothing back
		// sql.ErrTxDone if package sql has rolled back already: no scope takes that for a cancellation.
		if err := tx.Commit(); err != sql.ErrTxDone && err != ctx.Err() {
			return errors.Join(failure, err)
		}
		return context.Cause(ctx)
	}, false, "rollback"},
	{"a connection of the pool", func(ctx context.Context, db *sql.DB) error {
		held, err := db.Conn(context.WithoutCancel(ctx))
		if err != nil {
			return errors.Join(failure, err)
		}
		defer held.Close()
		_, err = count(ctx, db, "two rows")
		return err
	}, true, ""},
	{"BeginTx, for a connection of the pool", func(ctx context.Context, db *sql.DB) error {
		held, err := db.Conn(context.WithoutCancel(ctx))
		if err != nil {
			return errors.Join(failure, err)
		}
		defer held.Close()
		_, err = db.BeginTx(ctx, nil)
		return err
	}, true, ""},
}

// Each call ends with its scope, whose error it is; the connection goes back to the pool, which has only one, and no
// goroutine stays.
func TestInteropSQL(t *testing.T) {
	for _, c := range sqlCalls {
		for _, ending := range endings {
			for _, below := range []string{"the scope", "a value", "a nursery"} {
				t.Run(c.name+"/"+ending.name+"/"+below, func(t *testing.T) {
					bidetest.Bubble(t, func(t *testing.T, _ context.Context) {
						ctx, vc := bidetest.Virtual(t)
						s := &store{}
						db := sql.OpenDB(s)
						db.SetMaxOpenConns(1)
						scope, err := run(ctx, func(scope *bide.Scope) error {
							var got error
							done := make(chan bool)
							go func() {
								defer close(done)
								got = inside(scope, below, func(ctx context.Context) error { return c.call(ctx, db) })
							}()
							bidetest.Settle(t)
							if in := db.Stats().InUse; in != 1 {
								t.Errorf("%d connections in use while it hangs", in)
							}
							ending.end(scope, vc)
							<-done
							if !errors.Is(got, ending.sentinel) {
								t.Errorf("the call: %v (%T), want %v", got, got, ending.sentinel)
							}
							return got
						}, bide.Timeout(time.Minute), bide.Name("query"))

						var late *bide.TimeoutError
						if errors.As(err, &late) != (ending.source == bide.ByDeadline) || late == nil && err != nil {
							t.Errorf("the scope: %v (%T)", err, err)
						}
						bidetest.Settle(t) // package sql rolls back on a goroutine
						if s.cause != nil && s.cause != scope.Cause() || s.cause == nil && !c.wait && c.ends != "rollback" {
							t.Errorf("the driver saw as the cause %v, want %v", s.cause, scope.Cause())
						}
						if got := fmt.Sprint(s.ends); got != fmt.Sprint([]string{c.ends}) && !(c.ends == "" && s.ends == nil) {
							t.Errorf("transactions ended by %v, want %q", s.ends, c.ends)
						}
						st := db.Stats()
						if st.InUse != 0 || c.wait != (st.WaitCount == 1) {
							t.Errorf("in use %d, waits %d", st.InUse, st.WaitCount)
						}
						if n, err := count(ctx, db, "two rows"); n != 2 || err != nil {
							t.Errorf("the next query: %d rows, %v", n, err)
						}
						db.Close()
						if s.conns != s.closed {
							t.Errorf("%d connections made, %d closed", s.conns, s.closed)
						}
					})
				})
			}
		}
	}
}

// inside calls f with a context of a kind, below scope.
func inside(scope *bide.Scope, kind string, f func(ctx context.Context) error) error {
	switch kind {
	case "a value":
		return f(context.WithValue(scope, valueKey{}, 0))
	case "a nursery":
		return bide.WithNursery(scope, func(_ context.Context, n *bide.Nursery) error {
			n.Go(f)
			return nil
		})
	default:
		return f(scope)
	}
}

// A transaction under a bound that is met is committed, and the connection is there for the next.
func TestInteropSQLInTime(t *testing.T) {
	bidetest.Bubble(t, func(t *testing.T, ctx context.Context) {
		s := &store{}
		db := sql.OpenDB(s)
		db.SetMaxOpenConns(1)
		for range 3 {
			err := bide.FailAfter(ctx, time.Minute, func(ctx context.Context) error {
				tx, err := db.BeginTx(ctx, nil)
				if err != nil {
					return err
				}
				defer tx.Rollback()
				if n, err := count(ctx, tx, "two rows"); n != 2 || err != nil {
					t.Error(n, err)
				}
				return tx.Commit()
			})
			if err != nil {
				t.Error(err)
			}
		}
		db.Close()
		if fmt.Sprint(s.ends) != "[commit commit commit]" || s.conns != 1 || s.closed != 1 {
			t.Errorf("%v; %d connections made, %d closed", s.ends, s.conns, s.closed)
		}
	})
}

// Who waits for the pool's connection gets it when it is given back in time, and a deadline that comes later does no harm.
func TestInteropSQLPool(t *testing.T) {
	bidetest.Bubble(t, func(t *testing.T, _ context.Context) {
		ctx, vc := bidetest.Virtual(t)
		db := sql.OpenDB(&store{})
		db.SetMaxOpenConns(1)
		held, err := db.Conn(ctx)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		bide.WithNursery(ctx, func(_ context.Context, n *bide.Nursery) error {
			for i, bound := range []time.Duration{time.Second, time.Minute} {
				n.Go(func(ctx context.Context) error {
					_, err := count(ctx, db, "two rows")
					got = append(got, fmt.Sprint(i, " at ", vc.Now(), ": ", err))
					return err
				}, bide.Timeout(bound), bide.MoveOn())
				bidetest.Settle(t)
			}
			vc.Advance(time.Second)
			bidetest.Settle(t)
			vc.Advance(time.Second)
			held.Close()
			return nil
		})
		want := fmt.Sprint([]string{"0 at 1s: context deadline exceeded", "1 at 2s: <nil>"})
		if fmt.Sprint(got) != want {
			t.Errorf("%v, want %v", got, want)
		}
		vc.Advance(time.Hour)
		if st := db.Stats(); st.InUse != 0 || st.OpenConnections != 1 {
			t.Errorf("in use %d, open %d", st.InUse, st.OpenConnections)
		}
		db.Close()
	})
}
