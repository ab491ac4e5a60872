package timer_test

import (
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// ours lists the goroutines that have a function of this module on their stack, but for the caller and others that
// run or await tests.
func ours(t *testing.T) (stacks []string) {
	t.Helper()
	buf := make([]byte, 1<<20)
	for {
		n := runtime.Stack(buf, true)
		if n < len(buf) {
			buf = buf[:n]
			break
		}
		buf = make([]byte, 2*len(buf))
	}
	pkg := reflect.TypeFor[timer.Timer]().PkgPath()
	module := strings.TrimSuffix(pkg, "timer")
	for i, g := range strings.Split(string(buf), "\n\n") {
		if i > 0 && strings.Contains(g, module) && !strings.Contains(g, "testing.tRunner(") { // 0: the caller
			stacks = append(stacks, g)
		}
	}
	return stacks
}

// TestIdleDump: the search would find one.
func TestIdleDump(t *testing.T) {
	v := clock.NewVirtual()
	g := newGate()
	tm := timer.AfterFunc(1, g.f, timer.On(v))
	v.Advance(1)
	<-g.in
	if len(ours(t)) == 0 {
		t.Error("a running function is not found in the dump")
	}
	close(g.out)
	tm.StopWait()
}

// TestIdleRealTime: 100 000 timeouts, started and canceled, leave no goroutine.
func TestIdleRealTime(t *testing.T) {
	s := timer.Default()
	o := newOwner()
	kept := timer.AfterFunc(time.Hour, func() { t.Error("an hour has passed") })
	for i := range 100_000 {
		d := time.Duration(i%1000) * time.Minute
		if !timer.AfterFunc(time.Hour+d, func() { t.Error("an hour has passed") }).Stop() {
			t.Fatal("not stopped")
		}
		o.schedule(s, clock.After(time.Hour+d))
		if was, _ := s.Cancel(&o.Entry); !was {
			t.Fatal("not canceled")
		}
		kept.Reset(time.Hour + d)
	}
	kept.Stop()
	settle(t)
}

// settle waits until no goroutine of the module is left. Drivers of other tests' timers may be on their way; each
// round trip of a timer of ours lets them pass.
func settle(t *testing.T) {
	t.Helper()
	var left []string
	for range 50 {
		if left = ours(t); len(left) == 0 {
			return
		}
		done := make(chan struct{})
		time.AfterFunc(time.Millisecond, func() { close(done) })
		<-done
	}
	t.Errorf("idle, but there are goroutines:\n%s", strings.Join(left, "\n\n"))
}

// TestIdlePendingRealTime: pending ones have no goroutine either.
func TestIdlePendingRealTime(t *testing.T) {
	timers := make([]*timer.Timer, 10_000)
	for i := range timers {
		timers[i] = timer.AfterFunc(time.Hour, func() { t.Error("an hour has passed") })
	}
	settle(t)
	for _, tm := range timers {
		if !tm.Stop() {
			t.Fatal("not stopped")
		}
	}
}
