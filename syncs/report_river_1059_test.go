package syncs_test

import (
	"context"
	"testing"

	"bide.invalid/bide"
	"bide.invalid/bide/syncs"
)

// riverqueue/river#1059 (and #1062, open-match#1576, authgear#5721). What was to be undone at the end of a request, a
// transaction or a lock, was undone by a deferred call under the request's context. Exactly when the request was
// canceled that call did nothing, and the lock was kept until somebody's time to live ran out.
//
// Here giving back takes no context: it works under a canceled one as under any, and waits for nobody.
func TestReportRiver1059(t *testing.T) {
	var mutex syncs.Mutex
	queue := syncs.NewQueue[int](1)
	pool := &syncs.Pool[int]{New: func(context.Context) (int, error) { return 1, nil }, Max: 2}
	for range 10 {
		err := bide.Run(bg, func(s *bide.Scope) error {
			if err := mutex.Lock(s); err != nil {
				return err
			}
			defer mutex.Unlock()
			a, err := pool.Get(s)
			if err != nil {
				return err
			}
			defer pool.Put(a)
			b, err := pool.Get(s)
			if err != nil {
				return err
			}
			defer pool.Drop(b)
			if err := queue.Put(s, 1); err != nil {
				return err
			}
			defer queue.TryGet()
			s.Cancel(nil)
			return bide.Check(s)
		})
		if err != nil {
			t.Fatal(err)
		}
		if s := pool.Stats(); !mutex.Idle() || s.Lent != 0 || queue.Len() != 0 {
			t.Fatalf("something is kept: %+v", s)
		}
	}
	shut(t, pool)
}
