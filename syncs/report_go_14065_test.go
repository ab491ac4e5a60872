package syncs_test

import (
	"errors"
	"testing"

	"bide.invalid/bide/syncs"
)

// golang/go#14065 (and #10474). A request was canceled while its response arrived. The response was delivered, and the
// cancellation killed the pooled connection below its body all the same; or the caller got the cancellation, and the
// response's body, which nobody had, stayed open.
//
// Here a response is completed once: by the one who brings it, or by the one who gives up. Whoever loses knows, and
// disposes of what it has in hand; the caller sees exactly the winner's.
func TestReportGo14065(t *testing.T) {
	type response struct{ open bool }
	errAborted := errors.New("aborted")
	delivered := 0
	for _, x := range contexts {
		for i := range some(1000) {
			var f syncs.Future[*response]
			ctx, cancel := x.make(t)
			body := &response{open: true}
			arrive := func() {
				if !f.Set(body) {
					body.open = false
				}
			}
			abort := func() { f.Fail(errAborted) }
			racers := race(f.Queued, inTurn(i, arrive, abort, cancel)...)
			got, err := f.Wait(ctx)
			racers.Wait()
			if err != nil { // the caller has nothing: what came all the same is disposed of through the future
				if v, ok, _ := f.Poll(); ok && v != nil {
					v.open = false
				}
			}
			switch {
			case err == nil && (got != body || !body.open):
				t.Fatalf("delivered %v, which is open: %v", got, body.open)
			case err != nil && (got != nil || body.open):
				t.Fatalf("error %v with the response %v; it is open: %v", err, got, body.open)
			case err != nil && err != errAborted && !x.want(err):
				t.Fatalf("error %v", err)
			}
			if err == nil {
				delivered++
			}
		}
	}
	t.Logf("delivered %d", delivered)
}
