package syncs_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/syncs"
)

// golang/go#13327. Before database/sql knew contexts, a request that wanted a connection while all were in use waited
// for one without any bound; the request's own deadline began to count only afterwards.
//
// Here waiting for the connection and using it are under one bound, whoever eats it up.
func TestReportGo13327(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &syncs.Pool[int]{New: func(context.Context) (int, error) { return 1, nil }, Max: 1}
		conn := mustBorrow(t, p)
		query := func(ctx context.Context) error {
			c, err := p.Get(ctx)
			if err != nil {
				return err
			}
			defer p.Put(c)
			return bide.Sleep(ctx, 3*time.Second)
		}
		time.AfterFunc(8*time.Second, func() { p.Put(conn) })
		for i, want := range []struct {
			bound, took time.Duration
			late        bool
		}{
			{5 * time.Second, 5 * time.Second, true},  // all of it is spent on waiting
			{5 * time.Second, 5 * time.Second, true},  // 3 s on waiting, and then the query has only 2
			{5 * time.Second, 3 * time.Second, false}, // nothing to wait for
		} {
			start := time.Now()
			err := bide.FailAfter(bg, want.bound, query)
			if took := time.Since(start); took != want.took || errors.Is(err, context.DeadlineExceeded) != want.late {
				t.Errorf("request %d: %v after %v", i, err, took)
			}
		}
		shut(t, p)
	})
}
