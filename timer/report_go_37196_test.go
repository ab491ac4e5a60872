package timer_test

import (
	"reflect"
	"sync"
	"sync/atomic"
	"testing"

	"bide.invalid/bide/timer"
)

// golang/go#37196. To stop a timer for good, programs looked into its channel, by len or by a select with a default, and
// drained what was there. Dozens of projects did, and all of them raced: the tick could arrive after the look.
//
// Here whoever stops a timer looks nowhere else. Of all that stop it at once and its one call exactly one is first, and
// knows.
func TestReportGo37196Bubble(t *testing.T) {
	meetings(t, func(t *testing.T, m *meeting) {
		for i := range 200 {
			var calls, prevented atomic.Int64
			tm := timer.AfterFunc(span, func() { calls.Add(1) }, m.opts...)
			var stoppers sync.WaitGroup
			m.meet(func() {
				for range 3 {
					stoppers.Go(func() {
						if tm.Stop() {
							prevented.Add(1)
						}
					})
				}
			})
			stoppers.Wait()
			if !tm.StopWait() || tm.Stop() {
				t.Fatalf("round %d: not stopped", i)
			}
			if calls.Load()+prevented.Load() != 1 {
				t.Fatalf("round %d: %d calls, and %d stops that prevented one", i, calls.Load(), prevented.Load())
			}
		}
	})
}

// TestReportGo37196Channels: there is no channel to look into.
func TestReportGo37196Channels(t *testing.T) {
	typ := reflect.TypeFor[timer.Timer]()
	for i := range typ.NumField() {
		if f := typ.Field(i); f.IsExported() {
			t.Errorf("a Timer shows its %s", f.Name)
		}
	}
	for i := range reflect.PointerTo(typ).NumMethod() {
		m := reflect.PointerTo(typ).Method(i)
		for o := range m.Type.NumOut() {
			if m.Type.Out(o).Kind() == reflect.Chan {
				t.Errorf("%s returns a channel", m.Name)
			}
		}
	}
}
