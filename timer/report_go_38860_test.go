package timer

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"bide.invalid/bide/clock"
)

// golang/go#38860. Goroutines that computed kept the timers of their processor waiting, although others were idle.
//
// Here a shard's driver is called by a runtime timer, which any idle processor takes over. With one of two processors
// computing all the time, and the shards' timers linked from both, all of them come; not early.
func TestReportGo38860RealTime(t *testing.T) {
	const procs, each = 2, 50
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
	r := newProcsRun(t, 4)
	var over atomic.Bool
	linked, computed := make(chan struct{}), make(chan int, 1)
	go func() {
		// Whoever computes has set the alarms, so if they are any processor's, they are this one's.
		for i := range each * len(r.logs) {
			r.add(1+i%len(r.logs), clock.After(time.Duration(1+i%10)*time.Millisecond))
		}
		r.left.Add(1)
		AfterFunc(20*time.Millisecond, r.left.Done) // the default service's, too
		close(linked)
		n := 0
		for !over.Load() {
			n++
		}
		computed <- n
	}()
	<-linked
	for i := range each { // from the other processor, or this one
		r.add(0, clock.After(time.Duration(1+i%10)*time.Millisecond))
	}
	r.left.Wait() // for ever, if one is lost
	over.Store(true)
	<-computed
	want := each * (len(r.logs) + 1)
	if found, shards := r.found(); found != want || shards != len(r.logs) || r.s.Stats().Pending != 0 {
		t.Errorf("%d were found due, want %d; in %d shards; %+v", found, want, shards, r.s.Stats())
	}
}
