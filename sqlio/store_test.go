package sqlio_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"slices"
	"sync"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/bidetest"
)

// A store is a driver, and its server: a query "n" has the rows 1 to n, and what else it does is in its hooks. It remembers
// what it was told.
type store struct {
	query  func(ctx context.Context, query string) (driver.Rows, error) // nil: three rows
	begin  func(ctx context.Context) error                              // nil: at once, and well; so are these:
	commit func(ctx context.Context) error
	roll   func(ctx context.Context) error

	mu     sync.Mutex
	said   []string // begin, commit, rollback, exec
	args   []any    // of exec
	opts   driver.TxOptions
	open   int // rows
	conns  int
	closed int
}

func (s *store) say(word string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said = append(s.said, word)
}

func (s *store) add(n *int, d int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*n += d
}

func (s *store) Driver() driver.Driver { return nil }
func (s *store) Connect(context.Context) (driver.Conn, error) {
	s.add(&s.conns, 1)
	return &conn{s: s}, nil
}

// hang is a driver that ends with its context.
func hang(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// A conn reads all rows into one buffer, as drivers do.
type conn struct {
	s      *store
	buffer []byte
}

func (c *conn) Prepare(string) (driver.Stmt, error) { return nil, errors.New("no statements here") }
func (c *conn) Begin() (driver.Tx, error)           { return nil, errors.New("no Begin without a context") }
func (c *conn) Close() error                        { c.s.add(&c.s.closed, 1); return nil }

// Package sql drops the connections that have not these two when it rolls back.
func (c *conn) ResetSession(context.Context) error { return nil }
func (c *conn) IsValid() bool                      { return true }

func (c *conn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	c.s.opts = opts
	if c.s.begin != nil {
		if err := c.s.begin(ctx); err != nil {
			return nil, err
		}
	}
	c.s.say("begin")
	return tx{c, ctx}, nil
}

func (c *conn) ExecContext(ctx context.Context, _ string, args []driver.NamedValue) (driver.Result, error) {
	c.s.say("exec")
	for _, a := range args {
		c.s.args = append(c.s.args, a.Value)
	}
	return driver.ResultNoRows, ctx.Err()
}

func (c *conn) QueryContext(ctx context.Context, query string, _ []driver.NamedValue) (driver.Rows, error) {
	if c.s.query != nil {
		r, err := c.s.query(ctx, query)
		if r, ok := r.(*rows); ok {
			r.ctx, r.c = ctx, c
			c.s.add(&c.s.open, 1)
		}
		return r, err
	}
	c.s.add(&c.s.open, 1)
	return &rows{n: 3, c: c, ctx: ctx}, ctx.Err()
}

type tx struct {
	c   *conn
	ctx context.Context
}

func (t tx) Commit() error   { return t.end("commit", t.c.s.commit) }
func (t tx) Rollback() error { return t.end("rollback", t.c.s.roll) }

func (t tx) end(how string, hook func(context.Context) error) error {
	t.c.s.say(how)
	if hook == nil {
		return nil
	}
	return hook(t.ctx)
}

// rows are 1 to n, as text, and then what last says, or the end.
type rows struct {
	n    int
	last func(ctx context.Context) error
	word string // instead of the number

	c   *conn
	ctx context.Context
	at  int
}

func (r *rows) Columns() []string { return []string{"n"} }
func (r *rows) Close() error      { r.c.s.add(&r.c.s.open, -1); return nil }
func (r *rows) Next(dest []driver.Value) error {
	if r.at++; r.at > r.n {
		if r.last != nil {
			return r.last(r.ctx)
		}
		return io.EOF
	}
	text := r.word
	if text == "" {
		text = string('0' + byte(r.at))
	}
	r.c.buffer = append(r.c.buffer[:0], text...)
	dest[0] = r.c.buffer
	return nil
}

// pool is the store's pool, of one connection.
func (s *store) pool() *sql.DB {
	db := sql.OpenDB(s)
	db.SetMaxOpenConns(1)
	return db
}

// clean closes the pool, and fails the test if anything is left.
func (s *store) clean(t *testing.T, db *sql.DB) {
	t.Helper()
	if st := db.Stats(); st.InUse != 0 {
		t.Errorf("%d connections are in use", st.InUse)
	}
	db.Close()
	if s.open != 0 || s.conns != s.closed {
		t.Errorf("%d rows are open; %d connections were made, %d closed", s.open, s.conns, s.closed)
	}
}

func (s *store) wantSaid(t *testing.T, want ...string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Equal(s.said, want) {
		t.Errorf("the driver was told %q, want %q", s.said, want)
	}
}

func number(r *sql.Rows) (n int, err error) {
	err = r.Scan(&n)
	return n, err
}

// A serverError is an answer of the server, with its SQLSTATE.
type serverError string

func (e serverError) Error() string    { return "server: " + string(e) }
func (e serverError) SQLState() string { return string(e) }

// inBubble is a test with a virtual clock, and a pool of one connection that must be clean in the end. The scope that
// it runs in is bounded by a second.
func inBubble(t *testing.T, s *store, f func(s *bide.Scope, db *sql.DB, advance func(time.Duration)) error) (err error) {
	t.Helper()
	bidetest.Bubble(t, func(t *testing.T, _ context.Context) {
		ctx, v := bidetest.Virtual(t)
		db := s.pool()
		err = bide.Run(ctx, func(scope *bide.Scope) error {
			return f(scope, db, func(d time.Duration) {
				bidetest.Settle(t)
				v.Advance(d)
				bidetest.Settle(t)
			})
		}, bide.Timeout(time.Second), bide.Name("test"))
		bidetest.Settle(t)
		s.clean(t, db)
	})
	return err
}

// stopsAfterTwo is a query that has two rows, and then calls stopped and waits for its context.
func (s *store) stopsAfterTwo(stopped func()) func(context.Context, string) (driver.Rows, error) {
	return func(context.Context, string) (driver.Rows, error) {
		return &rows{n: 2, last: func(ctx context.Context) error { stopped(); return hang(ctx) }}, nil
	}
}
