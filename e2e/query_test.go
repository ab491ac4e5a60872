//go:build linux

package e2e

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"bide.invalid/bide"
	"bide.invalid/bide/sqlio"
)

func text(r *sql.Rows) (s string, err error) {
	err = r.Scan(&s)
	return s, err
}

// one asks for a single text.
func one(ctx context.Context, q sqlio.Querier, query string, args ...any) (s string, err error) {
	for s, err = range sqlio.Query(ctx, q, text, query, args...) {
		break
	}
	return s, err
}

// Each bound that ends a query ends it in the server, too; what others ask meanwhile is not hit.
func TestQueryIsCanceledRealTime(t *testing.T) {
	for _, query := range []string{
		"SELECT 'slow' || pg_sleep(1000)",
		"SELECT 'many ' || a FROM (SELECT generate_series(1, 1000000000) a) s",
		"SELECT 'some ' || a || CASE WHEN a > 1000 THEN pg_sleep(1000)::text ELSE '' END FROM generate_series(1, 2000) a",
		"SELECT 'work' || count(*) FROM (SELECT generate_series(1, 100000000000)) s",
	} {
		t.Run(query[8:12], func(t *testing.T) {
			eachWay(t, 2, func(t *testing.T, p *postgres, db *sql.DB, _ bool) {
				var others sync.WaitGroup
				stop := make(chan bool)
				others.Go(func() {
					for i := 0; ; i++ {
						select {
						case <-stop:
							return
						default:
						}
						want := fmt.Sprint("mine ", i)
						if got, err := one(context.Background(), db, "SELECT $1::text || pg_sleep(0.01)", want); err != nil || got != want {
							t.Errorf("somebody else's query: %q, %v", got, err)
							return
						}
					}
				})
				err := bide.FailAfter(context.Background(), 200*time.Millisecond, func(ctx context.Context) error {
					for _, err := range sqlio.Query(ctx, db, text, query) {
						if err != nil {
							return err
						}
					}
					return nil
				}, bide.Name("query"))
				var late *bide.TimeoutError
				if !errors.As(err, &late) || late.Scope != "query" {
					t.Errorf("%v (%T)", err, err)
				}
				close(stop)
				others.Wait()
			})
		})
	}
}

// A query whose cancel request came too early, or not at all, ends in the server when the connection is closed.
func TestQueryWithoutConnectionRealTime(t *testing.T) {
	p := postgresServer(t)
	const name = "nobody"
	c := p.config(name)
	dial, dials := c.DialFunc, 0
	c.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		if dials++; dials > 1 {
			return nil, errors.New("no request to cancel is to come through")
		}
		return dial(ctx, network, addr)
	}
	conn, err := pgx.ConnectConfig(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() {
		_, err := conn.Exec(context.Background(), "SELECT count(*) FROM (SELECT generate_series(1, 100000000000)) s")
		ended <- err
	}()
	var pid int
	if err := until("the query", func(ctx context.Context) bool {
		return p.admin.QueryRowContext(ctx, "SELECT pid FROM pg_stat_activity WHERE application_name = $1 AND state = 'active'", name).Scan(&pid) == nil
	}); err != nil {
		t.Fatal(err)
	}
	conn.PgConn().Conn().Close()
	if err := <-ended; err == nil {
		t.Error("the query has a result")
	}
	p.idle(t, name)
}

// Bounds that end anywhere in a query, and the next one on the same connection: it is not hit, and gets its own rows.
func TestQueryStormRealTime(t *testing.T) {
	eachWay(t, 3, func(t *testing.T, _ *postgres, db *sql.DB, _ bool) {
		r := random(t)
		var canceled, kept int
		var mu sync.Mutex
		var all sync.WaitGroup
		for g := range 3 {
			bounds := make([]time.Duration, 40)
			for i := range bounds {
				bounds[i] = time.Duration(r.IntN(20000)) * time.Microsecond
			}
			all.Go(func() {
				for i, bound := range bounds {
					word := fmt.Sprintf("%d.%d", g, i)
					var got []string
					err := bide.FailAfter(context.Background(), bound, func(ctx context.Context) error {
						for s, err := range sqlio.Query(ctx, db, text, "SELECT $1::text || pg_sleep(0.0005) FROM generate_series(1, 4)", word) {
							if err != nil {
								return err
							}
							got = append(got, s)
						}
						return nil
					})
					for _, s := range got {
						if s != word {
							t.Errorf("%s got a row of %s", word, s)
						}
					}
					var late *bide.TimeoutError
					mu.Lock()
					switch {
					case errors.As(err, &late):
						canceled++
					case err == nil && len(got) == 4:
						kept++
					default:
						t.Errorf("%s: %d rows, %v (%T)", word, len(got), err, err)
					}
					mu.Unlock()
					if s, err := one(context.Background(), db, "SELECT $1::text", "next "+word); err != nil || s != "next "+word {
						t.Errorf("the query after %s: %q, %v", word, s, err)
					}
				}
			})
		}
		all.Wait()
		t.Logf("%d were canceled, %d not", canceled, kept)
	})
}

// A loop that is left early has its connection back.
func TestQueryIsLeftRealTime(t *testing.T) {
	eachWay(t, 1, func(t *testing.T, _ *postgres, db *sql.DB, _ bool) {
		for range 20 {
			if s, err := one(context.Background(), db, "SELECT a::text FROM generate_series(1, 5000) a"); s != "1" || err != nil {
				t.Errorf("%q, %v", s, err)
			}
		}
		// The rest of a long result is read only as long as the context allows.
		err := bide.FailAfter(context.Background(), 300*time.Millisecond, func(ctx context.Context) error {
			_, err := one(ctx, db, "SELECT a::text FROM (SELECT generate_series(1, 1000000000) a) s")
			if err != nil {
				return err
			}
			return bide.Check(ctx)
		})
		var late *bide.TimeoutError
		if !errors.As(err, &late) {
			t.Error(err)
		}
	})
}

// Who waits for the pool is bounded, too.
func TestPoolIsExhaustedRealTime(t *testing.T) {
	eachWay(t, 1, func(t *testing.T, _ *postgres, db *sql.DB, _ bool) {
		held, err := db.Conn(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		defer held.Close()
		err = bide.FailAfter(context.Background(), 50*time.Millisecond, func(ctx context.Context) error {
			return sqlio.InTx(ctx, db, nil, func(context.Context, *sql.Tx) error { return nil })
		})
		var late *bide.TimeoutError
		if !errors.As(err, &late) {
			t.Error(err)
		}
	})
}
