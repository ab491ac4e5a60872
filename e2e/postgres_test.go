//go:build linux

package e2e

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/stdlib"
)

// A postgres is a PostgreSQL server of our own, which listens on a socket in its folder.
type postgres struct {
	dir    string
	helper *helper
	admin  *sql.DB
}

var (
	sharedMu sync.Mutex
	shared   *postgres
)

// postgresServer is the server that all tests share; it is started by the first.
func postgresServer(t *testing.T) *postgres {
	t.Helper()
	long(t)
	sharedMu.Lock()
	defer sharedMu.Unlock()
	if shared != nil {
		return shared
	}
	places := []string{"/usr/lib/postgresql/*/bin", "/usr/local/pgsql/bin"}
	initdb, server := find("initdb", places...), find("postgres", places...)
	if initdb == "" || server == "" {
		missing(t, "PostgreSQL server", "postgresql")
	}
	p, err := startPostgres(initdb, server)
	if err != nil {
		t.Fatal(err)
	}
	shared = p
	return p
}

func startPostgres(initdb, server string) (*postgres, error) {
	as := unprivileged("postgres")
	dir, err := folder(as)
	if err != nil {
		return nil, err
	}
	p := &postgres{dir: dir}
	data := filepath.Join(dir, "data")
	cmd := exec.Command(initdb, "-D", data, "-U", "bide", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	cmd.Dir, cmd.SysProcAttr = "/", &syscall.SysProcAttr{Credential: as}
	if out, err := cmd.CombinedOutput(); err != nil {
		os.RemoveAll(dir)
		return nil, fmt.Errorf("%v: %w\n%s", cmd.Args, err, out)
	}
	p.helper, err = start(syscall.SIGQUIT, as, server, "-D", data, "-k", dir, "-c", "listen_addresses=", "-F",
		"-c", "shared_buffers=16MB", "-c", "autovacuum=off", "-c", "max_connections=60",
		"-c", "client_connection_check_interval=1s") // a cancel request may come before its query, and finds nothing to cancel
	if err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	p.admin = stdlib.OpenDB(*p.config("admin"))
	err = until("PostgreSQL", func(ctx context.Context) bool { return p.admin.PingContext(ctx) == nil })
	if err != nil {
		p.stop()
		return nil, fmt.Errorf("%w\n%s", err, &p.helper.out)
	}
	return p, nil
}

func (p *postgres) stop() {
	p.admin.Close()
	p.helper.stop(syscall.SIGQUIT)
	os.RemoveAll(p.dir)
}

func stopPostgres() {
	if shared != nil {
		shared.stop()
	}
}

// config is a connection's, with a name by which the server knows it.
func (p *postgres) config(name string) *pgx.ConnConfig {
	c, err := pgx.ParseConfig(fmt.Sprintf("host=%s user=bide database=postgres application_name=%s", p.dir, name))
	if err != nil {
		panic(err)
	}
	return c
}

// The ways of pgx to end a call whose context has ended.
var ways = []struct {
	name  string
	keeps bool // the connection
	set   func(c *pgx.ConnConfig)
}{
	{"by closing the connection", false, func(*pgx.ConnConfig) {}},
	{"by a cancel request", true, func(c *pgx.ConnConfig) {
		c.BuildContextWatcherHandler = func(conn *pgconn.PgConn) ctxwatch.Handler { return &canceler{conn: conn} }
	}},
}

// A canceler asks the server to cancel the query whose context has ended, and keeps the connection. The handler that pgx
// has for this, CancelRequestContextWatcherHandler, gives the request up when the query ends first, and then waits 100 ms
// in the hope that it has arrived: where the server is slower it hits the connection's next query, which is somebody
// else's. The server closes the request's connection when it has sent the signal, so this one waits for that.
type canceler struct {
	conn *pgconn.PgConn
	done chan struct{}
}

// grace bounds the request, and the query: a request that comes before the query finds nothing to cancel.
const grace = 30 * time.Second

func (c *canceler) HandleCancel(context.Context) {
	late := time.Now().Add(grace)
	c.conn.Conn().SetDeadline(late)
	c.done = make(chan struct{})
	go func() {
		defer close(c.done)
		ctx, cancel := context.WithDeadline(context.Background(), late)
		defer cancel()
		if err := c.conn.CancelRequest(ctx); err != nil || ctx.Err() != nil {
			c.conn.Conn().Close() // whom it hits is not known
		}
	}()
}

func (c *canceler) HandleUnwatchAfterCancel() {
	<-c.done
	if !c.conn.IsClosed() { // what closes one has set a deadline of its own
		c.conn.Conn().SetDeadline(time.Time{})
	}
}

// eachWay runs a test with a pool of each, which must be free in the end, and nothing of it at work in the server.
func eachWay(t *testing.T, size int, f func(t *testing.T, p *postgres, db *sql.DB, keeps bool)) {
	p := postgresServer(t)
	for i, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			c := p.config(fmt.Sprint("test", i))
			way.set(c)
			db := stdlib.OpenDB(*c)
			defer db.Close()
			db.SetMaxOpenConns(size)
			f(t, p, db, way.keeps)
			if err := until("the pool's connections", func(context.Context) bool { return db.Stats().InUse == 0 }); err != nil {
				t.Error(err)
			}
			p.idle(t, c.RuntimeParams["application_name"])
			var one int
			if err := db.QueryRow("SELECT 1").Scan(&one); err != nil || one != 1 {
				t.Errorf("the pool afterwards: %d, %v", one, err)
			}
		})
	}
}

// idle waits until nothing of that name is at work in the server, nor holds a transaction.
func (p *postgres) idle(t *testing.T, name string) {
	t.Helper()
	busy := "?"
	err := until("the server to be idle", func(ctx context.Context) bool {
		err := p.admin.QueryRowContext(ctx, `SELECT coalesce(string_agg(state || ': ' || query, '; '), '')
			FROM pg_stat_activity WHERE application_name = $1 AND state <> 'idle'`, name).Scan(&busy)
		return err == nil && busy == ""
	})
	if err != nil {
		t.Errorf("%v; at work: %s", err, busy)
	}
}

// exec is what a test needs in the database.
func (p *postgres) exec(t *testing.T, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := p.admin.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}
