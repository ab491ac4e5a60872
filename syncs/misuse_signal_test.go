package syncs_test

import (
	"context"
	"testing"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/syncs"
)

// The text of every panic of the signals and counters, and that it changes nothing.
func TestSignalMisuse(t *testing.T) {
	var none context.Context
	bg := context.Background()
	var nilWaitable syncs.Waitable
	c := make(chan int, 2)
	c <- 1
	c <- 2
	recv := syncs.Recv(c, nil, nil)
	for _, x := range []struct {
		want string
		call func()
	}{
		{"bide/syncs: Wait of an AutoEvent with a nil context", func() { _ = new(syncs.AutoEvent).Wait(none) }},
		{"bide/syncs: Wait of a WaitGroup with a nil context", func() { _ = new(syncs.WaitGroup).Wait(none) }},
		{"bide/syncs: Wait of a Barrier with a nil context", func() { _, _ = syncs.NewBarrier(1).Wait(none) }},
		{"bide/syncs: Wait of a Sequencer with a nil context", func() { _ = new(syncs.Sequencer).Wait(none, 0) }},
		{"bide/syncs: Wait of a Futex with a nil context", func() { _ = new(syncs.Futex).Wait(none, 0) }},
		{"bide/syncs: WaitAll with a nil context", func() { _ = syncs.WaitAll(none) }},

		{"bide/syncs: negative counter of a WaitGroup", new(syncs.WaitGroup).Done},
		{"bide/syncs: NewBarrier for 0 parties", func() { syncs.NewBarrier(0) }},
		{"bide/syncs: NewBarrier for -1 parties", func() { syncs.NewBarrier(-1) }},
		{"bide/syncs: Advance of a Sequencer to 4611686018427387904", func() { new(syncs.Sequencer).Advance(1 << 62) }},
		{"bide/syncs: Reset of a Sequencer to 18446744073709551615", func() { new(syncs.Sequencer).Reset(1<<64 - 1) }},
		{"bide/syncs: OnDone of a Future with a nil function", func() { new(syncs.Future[int]).OnDone(nil) }},

		{"bide/syncs: WaitAny of a nil Waitable", func() { _, _ = syncs.WaitAny(bg, nilWaitable) }},
		{"bide/syncs: WaitAll of a nil Waitable", func() { _ = syncs.WaitAll(bg, nilWaitable) }},
		{"bide/syncs: WaitAny of two Recv", func() { _, _ = syncs.WaitAny(bg, recv, syncs.At(clock.Forever), recv) }},
		{"bide/syncs: WaitAny of two Recv", func() { _, _ = syncs.WaitAny(bg, recv, syncs.Recv(make(chan bool), nil, nil)) }},
		{"bide/syncs: WaitAll of two Recv", func() { _ = syncs.WaitAll(bg, recv, recv) }},
	} {
		if got := panics(x.call); got != x.want {
			t.Errorf("panic %q, want %q", got, x.want)
		}
	}
	if len(c) != 2 {
		t.Error("a misused Recv has received")
	}

	// The largest numbers that are allowed.
	var s syncs.Sequencer
	if !s.Advance(1<<62-1) || s.Get() != 1<<62-1 {
		t.Errorf("Advance to the last number: %d", s.Get())
	}
	s.Reset(1<<62 - 1)
	s.Increment()
	s.Close()
	if s.Get() != 1<<62 {
		t.Errorf("and one more: %d", s.Get())
	}
}
