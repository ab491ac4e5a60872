package timer_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
	"bide.invalid/bide/timer/queue"
)

// decode reads a whole trace.
func decode(t *testing.T, trace []byte) (ops []queue.Op) {
	t.Helper()
	r, err := queue.NewTraceReader(bytes.NewReader(trace))
	if err != nil {
		t.Fatal(err)
	}
	for {
		op, err := r.Read()
		if errors.Is(err, io.EOF) {
			return ops
		}
		if err != nil {
			t.Fatal(err)
		}
		ops = append(ops, op)
	}
}

func TestRecord(t *testing.T) {
	v := clock.NewVirtual()
	s := timer.For(v)
	before := newOwner()
	before.schedule(s, 1000)
	v.Advance(1)
	stop := s.Record(1 << 10)
	a, b, c := newOwner(), newOwner(), newOwner()
	a.schedule(s, 10)
	b.schedule(s, 20)
	a.schedule(s, 15) // moved
	v.Advance(4)
	s.Cancel(&b.Entry)
	s.Cancel(&b.Entry) // not there
	s.Cancel(&before.Entry)
	c.schedule(s, 12) // has b's id
	c.at = 30         // later, without a call: the look at 12 moves it
	tm := timer.AfterFunc(100, func() {}, timer.On(v))
	v.Advance(50)
	idle := newOwner()
	idle.due = func(clock.Instant) (clock.Instant, bool) { return clock.Forever, false }
	idle.schedule(s, 60)
	v.Advance(10)
	tm.Stop()
	trace, lost := stop()
	newOwner().schedule(s, 2000) // after the end
	want := []queue.Op{
		{Kind: queue.Scheduled, ID: 0, Now: 1, At: 10},
		{Kind: queue.Scheduled, ID: 1, Now: 1, At: 20},
		{Kind: queue.Moved, ID: 0, Now: 1, At: 15},
		{Kind: queue.Canceled, ID: 1, Now: 5},
		{Kind: queue.Scheduled, ID: 1, Now: 5, At: 12},
		{Kind: queue.Scheduled, ID: 2, Now: 5, At: 105},
		{Kind: queue.Moved, ID: 1, Now: 12, At: 30},
		{Kind: queue.Fired, ID: 0, Now: 15},
		{Kind: queue.Fired, ID: 1, Now: 30},
		{Kind: queue.Scheduled, ID: 1, Now: 55, At: 60},
		{Kind: queue.Canceled, ID: 1, Now: 60},
		{Kind: queue.Canceled, ID: 2, Now: 65},
	}
	if got := decode(t, trace); !slices.Equal(got, want) {
		t.Errorf("%+v, want\n%+v", got, want)
	}
	if lost != 0 {
		t.Errorf("%d lost", lost)
	}
}

// TestRecordCascadeRealTime: what comes to a finer level of the wheel is not moved.
func TestRecordCascadeRealTime(t *testing.T) {
	s := timer.Default()
	stop := s.Record(1 << 20)
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Add(1)
		timer.AfterFunc(time.Duration(60+i%20)*time.Millisecond, wg.Done)
	}
	wg.Wait()
	trace, _ := stop()
	for _, op := range decode(t, trace) {
		if op.Kind == queue.Moved {
			t.Errorf("%+v", op)
		}
	}
}

// TestRecordFull: what does not fit is counted, and what fits is a whole trace.
func TestRecordFull(t *testing.T) {
	v := clock.NewVirtual()
	s := timer.NewService(v)
	stop := s.Record(100)
	for i := range 100 {
		o := newOwner()
		o.schedule(s, clock.Instant(1000+i))
	}
	trace, lost := stop()
	if got := len(decode(t, trace)); got+lost != 100 || got == 0 || len(trace) > 100 {
		t.Errorf("%d operations, %d lost, %d bytes", got, lost, len(trace))
	}
	want := "bide/timer: Record: the limit has no room for a trace's header"
	expectPanic(t, "no room", want, func() { s.Record(3) })
	stop = s.Record(100)
	expectPanic(t, "twice", "bide/timer: Record while a recording is on", func() { s.Record(100) })
	stop()
	stop = s.Record(100)
	s.Close()
	if trace, _ = stop(); len(decode(t, trace)) != 0 {
		t.Error("entries from before the recording are in it")
	}
}

// TestRecordRandom: a trace that was recorded under load, from several goroutines, is one that can be read.
func TestRecordRandom(t *testing.T) {
	seed := rand.Uint64()
	t.Log("seed", seed)
	s := timer.Default()
	stop := s.Record(1 << 20)
	var wg sync.WaitGroup
	for g := range uint64(4) {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(seed, g))
			var owners [8]*owner
			for i := range owners {
				owners[i] = newOwner()
			}
			for range 500 {
				o := owners[r.IntN(len(owners))]
				if r.IntN(3) == 0 {
					s.Cancel(&o.Entry)
				} else {
					s.Schedule(&o.Entry, clock.After(time.Duration(r.IntN(3_000_000))))
				}
			}
			for _, o := range owners {
				s.Cancel(&o.Entry)
			}
		})
	}
	wg.Wait()
	trace, lost := stop()
	live := map[uint32]bool{}
	for _, op := range decode(t, trace) {
		live[op.ID] = op.Kind <= queue.Moved
	}
	for id, alive := range live {
		if alive {
			t.Errorf("%d was neither canceled nor fired", id)
		}
	}
	if lost != 0 || len(live) == 0 {
		t.Errorf("%d lost, %d ids", lost, len(live))
	}
}
