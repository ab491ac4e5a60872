package sqlio_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"runtime"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/bidetest"
	"bide.invalid/bide/sqlio"
)

func TestQuery(t *testing.T) {
	s := &store{}
	err := inBubble(t, s, func(ctx *bide.Scope, db *sql.DB, _ func(time.Duration)) error {
		seq := sqlio.Query(ctx, db, number, "numbers")
		for range 2 {
			var got []int
			for n, err := range seq {
				if err != nil {
					return err
				}
				if db.Stats().InUse != 1 {
					t.Error("the connection is not held inside of the loop")
				}
				got = append(got, n)
			}
			if fmt.Sprint(got) != "[1 2 3]" || db.Stats().InUse != 0 {
				t.Errorf("%v; %d in use", got, db.Stats().InUse)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

var failure = errors.New("failure")

// In whatever way the loop is left, its rows are closed and the connection is free.
func TestQueryWaysOut(t *testing.T) {
	loop := func(ctx context.Context, db *sql.DB, body func(int, error) bool) {
		for n, err := range sqlio.Query(ctx, db, number, "numbers") {
			if !body(n, err) {
				break
			}
		}
	}
	for name, leave := range map[string]func(ctx *bide.Scope, db *sql.DB){
		"break": func(ctx *bide.Scope, db *sql.DB) { loop(ctx, db, func(int, error) bool { return false }) },
		"return": func(ctx *bide.Scope, db *sql.DB) {
			for range sqlio.Query(ctx, db, number, "numbers") {
				return
			}
		},
		"panic": func(ctx *bide.Scope, db *sql.DB) {
			defer func() {
				if recover() != failure {
					t.Error("the panic has not come through")
				}
			}()
			loop(ctx, db, func(int, error) bool { panic(failure) })
		},
		"a panic of scan": func(ctx *bide.Scope, db *sql.DB) {
			defer func() { _ = recover() }()
			for range sqlio.Query(ctx, db, func(*sql.Rows) (int, error) { panic(failure) }, "numbers") {
			}
			t.Error("the panic has not come through")
		},
		"Goexit": func(ctx *bide.Scope, db *sql.DB) {
			over := make(chan bool)
			go func() {
				defer close(over)
				loop(ctx, db, func(int, error) bool { runtime.Goexit(); return true })
			}()
			<-over
		},
		"cancel": func(ctx *bide.Scope, db *sql.DB) {
			rounds := 0
			loop(ctx, db, func(n int, err error) bool {
				rounds++
				ctx.Cancel(failure)
				if (rounds == 1) != (n == 1 && err == nil) || rounds == 2 && err != ctx.Cause() || rounds > 2 {
					t.Errorf("round %d: %d, %v", rounds, n, err)
				}
				return true
			})
			if rounds != 2 {
				t.Errorf("%d rounds", rounds)
			}
		},
		"cancel and break": func(ctx *bide.Scope, db *sql.DB) {
			loop(ctx, db, func(int, error) bool { ctx.Cancel(failure); return false })
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &store{}
			inBubble(t, s, func(ctx *bide.Scope, db *sql.DB, _ func(time.Duration)) error {
				leave(ctx, db)
				bidetest.Settle(t)
				if in := db.Stats().InUse; in != 0 || s.open != 0 {
					t.Errorf("%d connections in use, %d rows open", in, s.open)
				}
				return nil
			})
		})
	}
}

// Errors of all stages are the last that the loop gets; the connection is free by then.
func TestQueryErrors(t *testing.T) {
	broken := func(*sql.Rows) (int, error) { return 7, failure }
	for name, c := range map[string]struct {
		query func(ctx context.Context, query string) (driver.Rows, error)
		scan  func(*sql.Rows) (int, error)
		rows  int
	}{
		"query": {func(context.Context, string) (driver.Rows, error) { return nil, failure }, number, 0},
		"rows": {func(context.Context, string) (driver.Rows, error) {
			return &rows{n: 2, last: func(context.Context) error { return failure }}, nil
		}, number, 2},
		"scan": {nil, broken, 0},
	} {
		t.Run(name, func(t *testing.T) {
			err := inBubble(t, &store{query: c.query}, func(ctx *bide.Scope, db *sql.DB, _ func(time.Duration)) (last error) {
				rows := 0
				for n, err := range sqlio.Query(ctx, db, c.scan, "numbers") {
					if last != nil {
						t.Error("a round after the error")
					}
					if last = err; err == nil {
						rows++
					} else if in := db.Stats().InUse; n != 0 || in != 0 {
						t.Errorf("with the error: %d, %d connections in use", n, in)
					}
				}
				if rows != c.rows {
					t.Errorf("%d rows, want %d", rows, c.rows)
				}
				return last
			})
			if err != failure {
				t.Errorf("%v, want %v", err, failure)
			}
		})
	}
}

// A cancellation ends every wait, and the error is its reason.
func TestQueryIsCanceled(t *testing.T) {
	after := func(n int, last func(context.Context) error) func(context.Context, string) (driver.Rows, error) {
		return func(context.Context, string) (driver.Rows, error) { return &rows{n: n, last: last}, nil }
	}
	asked := func(ctx context.Context) error { <-ctx.Done(); return serverError("57014") }
	worded := func(ctx context.Context) error { return fmt.Errorf("timeout: %w", hang(ctx)) } // jackc/pgx, at a deadline
	for name, c := range map[string]struct {
		query func(context.Context, string) (driver.Rows, error)
		rows  int
		held  bool
	}{
		"waiting for a connection": {nil, 0, true},
		"in the query":             {func(ctx context.Context, _ string) (driver.Rows, error) { return nil, hang(ctx) }, 0, false},
		"in the query, and the server says so": {
			func(ctx context.Context, _ string) (driver.Rows, error) { return nil, asked(ctx) }, 0, false},
		"in the query, in the driver's words": {
			func(ctx context.Context, _ string) (driver.Rows, error) { return nil, worded(ctx) }, 0, false},
		"between rows":                         {after(2, hang), 2, false},
		"between rows, and the server says so": {after(2, asked), 2, false},
		"between rows, in the driver's words":  {after(2, worded), 2, false},
	} {
		for _, how := range []string{"deadline", "cancel"} {
			t.Run(name+"/"+how, func(t *testing.T) {
				err := inBubble(t, &store{query: c.query}, func(s *bide.Scope, db *sql.DB, advance func(time.Duration)) (last error) {
					if c.held {
						held, err := db.Conn(context.Background())
						if err != nil {
							t.Fatal(err)
						}
						defer held.Close()
					}
					got, over := 0, make(chan bool)
					go func() {
						defer close(over)
						for _, err := range sqlio.Query(s, db, number, "numbers") {
							if last = err; err == nil {
								got++
							}
						}
					}()
					if how == "cancel" {
						advance(0)
						s.Cancel(failure)
					} else {
						advance(time.Second)
					}
					<-over
					var end *bide.Canceled
					if got != c.rows || !errors.As(last, &end) || end != s.Cause() {
						t.Errorf("%d rows, %v (%T); want %d, %v", got, last, last, c.rows, s.Cause())
					}
					return last
				})
				var late *bide.TimeoutError
				if (how == "deadline") != errors.As(err, &late) || how == "cancel" && err != nil {
					t.Errorf("the scope: %v", err)
				}
			})
		}
	}
}

// A cancellation in the loop's body gives the connection free, unless the row lies in its buffer.
func TestQueryIsCanceledInTheBody(t *testing.T) {
	for name, c := range map[string]struct {
		scan func(*sql.Rows) (string, error)
		held int
	}{
		"a copy": {func(r *sql.Rows) (s string, err error) { err = r.Scan(&s); return s, err }, 0},
		"RawBytes": {func(r *sql.Rows) (string, error) {
			var raw sql.RawBytes
			err := r.Scan(&raw)
			return string(raw), err
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := &store{}
			db := s.pool()
			ctx := bide.Open(context.Background())
			defer ctx.Close(nil)
			for row, err := range sqlio.Query(ctx, db, c.scan, "numbers") {
				if err != nil {
					break
				}
				ctx.Cancel(failure)
				for rounds := 0; db.Stats().InUse != c.held || c.held > 0 && rounds < 1000; rounds++ {
					runtime.Gosched() // in a bubble, who waits for the row would not count as waiting
				}
				if row != "1" {
					t.Errorf("%q", row)
				}
			}
			s.clean(t, db)
		})
	}
}

// Who has got all rows has not failed, though the cancellation came with their end. Nor is a driver's own error taken for it.
func TestQueryIsCanceledAtTheEnd(t *testing.T) {
	for _, last := range []error{io.EOF, failure} {
		var scope *bide.Scope
		s := &store{query: func(context.Context, string) (driver.Rows, error) {
			return &rows{n: 1, last: func(context.Context) error { return last }}, nil
		}}
		inBubble(t, s, func(s *bide.Scope, db *sql.DB, _ func(time.Duration)) error {
			scope = s
			var ends []error
			for _, err := range sqlio.Query(context.WithoutCancel(s), db, number, "numbers") {
				ends = append(ends, err)
				scope.Cancel(nil)
			}
			if want := map[bool]string{true: "[<nil>]", false: "[<nil> failure]"}[last == io.EOF]; fmt.Sprint(ends) != want {
				t.Errorf("%v, want %v", ends, want)
			}
			return nil
		})
	}
}

func TestMisuse(t *testing.T) {
	for want, f := range map[string]func(){
		"bide/sqlio: Query: nil scan": func() {
			sqlio.Query[int](context.Background(), nil, nil, "numbers")
		},
		"bide/sqlio: InTx: nil function": func() { sqlio.InTx(context.Background(), nil, nil, nil) },
	} {
		func() {
			defer func() {
				if got := recover(); got != want {
					t.Errorf("panic %v, want %v", got, want)
				}
			}()
			f()
		}()
	}
}
