package syncs_test

import (
	"context"
	"testing"
	"testing/synctest"

	"bide.invalid/bide"
	"bide.invalid/bide/syncs"
)

// containerd/ttrpc, commit acefd00. Streams without a timeout got a cancel function that did nothing. When the caller
// gave such a stream up, its receiver stayed parked until the whole connection was closed.
//
// Here each stream's receiver waits under the stream's scope, bounded or not. The end of the scope ends the receive,
// whatever lives on; and the end of the connection ends those that are left.
func TestReportTtrpcAcefd00(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const streams = 10
		ended := make(chan error, streams)
		queues := make([]*syncs.Queue[string], streams)
		scopes := make([]*bide.Scope, streams)
		for i := range queues {
			queues[i], scopes[i] = syncs.NewQueue[string](1), open(t, bg) // without a timeout
			go func() {
				_, err := queues[i].Get(scopes[i])
				ended <- err
			}()
		}
		synctest.Wait()
		for i := range streams / 2 {
			scopes[i].Cancel(errBecause)
			if err := <-ended; !by(bide.ByCancel)(err) {
				t.Errorf("stream %d: %v", i, err)
			}
			if queues[i].Queued() {
				t.Errorf("the receiver of stream %d is left", i)
			}
		}
		synctest.Wait()
		if len(ended) != 0 {
			t.Errorf("%d others have ended", len(ended))
		}
		for _, q := range queues { // the connection
			q.Close()
		}
		for range streams / 2 {
			if err := <-ended; err != syncs.ErrClosed {
				t.Error(err)
			}
		}
		if _, err := queues[0].Get(context.Background()); err != syncs.ErrClosed {
			t.Error(err)
		}
	})
}
