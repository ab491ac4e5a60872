package syncs_test

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
)

// golang/go#16620, #9578, #40026 and others. For years users have asked for waits on sync.Cond, Mutex and WaitGroup
// that a context or a timeout ends. What they write instead is a goroutine that does the wait and closes a channel
// after it, beside a select; and when the context wins that goroutine stays, for ever if nobody signals any more
// (panurus#2124).
//
// Here the wait itself ends. A thousand of them cost no goroutine while they last but their own, and none afterwards.
func TestReportGo16620(t *testing.T) {
	for _, c := range calls {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const waits = 1000
				c := c.make()
				before := goroutines()
				ended := make(chan error, waits)
				for range waits {
					go func() { ended <- bide.FailAfter(context.Background(), time.Second, c.wait) }()
				}
				synctest.Wait()
				if n := goroutines() - before; n != waits {
					t.Errorf("%d goroutines for %d waits", n, waits)
				}
				for range waits {
					if err := <-ended; err == nil {
						t.Fatal("ended without an error")
					}
				}
				synctest.Wait()
				if n := goroutines() - before; n > 0 {
					t.Errorf("%d goroutines are left", n)
				}
				if !c.clean() {
					t.Error("somebody is left in a queue")
				}
			})
		})
	}
}

// goroutines is how many there are in the caller's bubble. (runtime.NumGoroutine counts those of the whole process, and
// not exactly.)
func goroutines() int {
	buf := make([]byte, 1<<20)
	n := runtime.Stack(buf, true)
	for n == len(buf) {
		buf = make([]byte, 2*len(buf))
		n = runtime.Stack(buf, true)
	}
	// goroutine 7 [running, synctest bubble 3]:
	header, _, _ := strings.Cut(string(buf[:n]), "\n")
	_, bubble, _ := strings.Cut(header, ", synctest bubble ")
	return strings.Count(string(buf[:n]), ", synctest bubble "+bubble)
}
