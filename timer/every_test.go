package timer_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// tick is a call of a periodic function: what it was given, and when it came.
type tick struct {
	scheduled clock.Instant
	missed    int
	at        clock.Instant
}

// ticker is a periodic function that takes time: it moves on when the test lets it.
type ticker struct {
	v     *clock.Virtual
	ticks []tick
	busy  bool
	block bool
	next  chan struct{}
	t     *testing.T
}

func newTicker(t *testing.T) *ticker {
	return &ticker{v: clock.NewVirtual(), next: make(chan struct{}), t: t}
}

func (k *ticker) f(scheduled clock.Instant, missed int) {
	if k.busy {
		k.t.Error("calls overlap")
	}
	k.busy = true
	k.ticks = append(k.ticks, tick{scheduled, missed, k.v.Now()})
	if k.block {
		<-k.next
	}
	k.busy = false
}

// to moves the clock to an instant, one nanosecond at a time, so that whatever is due in between has come to rest.
func (k *ticker) to(at clock.Instant) {
	for synctest.Wait(); k.v.Now() < at; synctest.Wait() {
		k.v.Advance(1)
	}
}

// done lets the call that runs end.
func (k *ticker) done() {
	k.next <- struct{}{}
	synctest.Wait()
}

func (k *ticker) expect(what string, want ...tick) {
	k.t.Helper()
	synctest.Wait()
	if !slices.Equal(k.ticks, want) {
		k.t.Fatalf("%s: ticks {scheduled missed at} %v, want %v", what, k.ticks, want)
	}
	k.ticks = nil
}

func on(v *clock.Virtual) timer.Option { return timer.On(v) }

// TestEveryBubble: prompt calls, whatever the option; the first after one period.
func TestEveryBubble(t *testing.T) {
	for i, late := range []timer.Option{timer.Inline(), timer.Skip(), timer.Burst(), timer.Delay()} {
		synctest.Test(t, func(t *testing.T) {
			k := newTicker(t)
			tm := timer.Every(10, k.f, on(k.v), late)
			k.to(9)
			k.expect(fmt.Sprint(i, ": before the first"))
			k.to(35)
			k.expect(fmt.Sprint(i), tick{10, 0, 10}, tick{20, 0, 20}, tick{30, 0, 30})
			if !tm.Stop() || tm.Stop() {
				t.Error("Stop: true once")
			}
			k.to(100)
			k.expect(fmt.Sprint(i, ": stopped"))
		})
	}
}

// TestEveryLateBubble: the first call takes from 10 to 45, the second from when it comes until 52.
func TestEveryLateBubble(t *testing.T) {
	for _, c := range []struct {
		name string
		opts []timer.Option
		want []tick
	}{
		{"default", nil, []tick{{10, 0, 10}, {40, 2, 45}, {50, 0, 52}, {60, 0, 60}}},
		{"Skip", []timer.Option{timer.Skip()}, []tick{{10, 0, 10}, {40, 2, 45}, {50, 0, 52}, {60, 0, 60}}},
		{"Burst", []timer.Option{timer.Burst()}, []tick{{10, 0, 10}, {20, 0, 45}, {30, 0, 52}, {40, 0, 52}, {50, 0, 52}, {60, 0, 60}}},
		{"Delay", []timer.Option{timer.Delay()}, []tick{{10, 0, 10}, {55, 0, 55}, {65, 0, 65}}},
	} {
		synctest.Test(t, func(t *testing.T) {
			k := newTicker(t)
			k.block = true
			tm := timer.Every(10, k.f, append(c.opts, on(k.v))...)
			k.to(45)
			if c.name == "Delay" {
				k.block = false
				k.done()
			} else {
				k.done()
				k.to(52)
				k.block = false
				k.done()
			}
			k.to(66)
			k.expect(c.name, slices.DeleteFunc(c.want, func(w tick) bool { return w.at > 66 })...)
			tm.Stop()
		})
	}
}

// TestEveryAtTheEdgeBubble: a call that ends when the next tick comes, a nanosecond before, and one after.
func TestEveryAtTheEdgeBubble(t *testing.T) {
	for _, c := range []struct {
		end  clock.Instant
		late timer.Option
		want tick // the second
	}{
		{19, timer.Skip(), tick{20, 0, 20}}, {20, timer.Skip(), tick{20, 0, 20}}, {21, timer.Skip(), tick{20, 0, 21}},
		{29, timer.Skip(), tick{20, 0, 29}}, {30, timer.Skip(), tick{30, 1, 30}}, {31, timer.Skip(), tick{30, 1, 31}},
		{19, timer.Burst(), tick{20, 0, 20}}, {20, timer.Burst(), tick{20, 0, 20}}, {31, timer.Burst(), tick{20, 0, 31}},
		{10, timer.Delay(), tick{20, 0, 20}}, {20, timer.Delay(), tick{30, 0, 30}}, {31, timer.Delay(), tick{41, 0, 41}},
	} {
		synctest.Test(t, func(t *testing.T) {
			k := newTicker(t)
			k.block = true
			tm := timer.Every(10, k.f, c.late, on(k.v))
			k.to(c.end)
			k.done()
			k.to(c.want.at)
			k.expect(fmt.Sprintf("%+v", c), tick{10, 0, 10}, c.want)
			tm.Stop()
			k.done()
		})
	}
}

// TestEveryMissesManyBubble: a function that takes decades; nothing overflows, the schedule stays on its ticks.
func TestEveryMissesManyBubble(t *testing.T) {
	for _, period := range []time.Duration{1, 7, time.Millisecond, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			k := newTicker(t)
			k.block = true
			tm := timer.Every(period, k.f, on(k.v))
			k.v.Advance(period)
			synctest.Wait()
			k.v.Advance(60 * year)
			now := k.v.Now()
			k.done()
			last := now - now%clock.Instant(period)
			if len(k.ticks) != 2 {
				t.Fatalf("%v: ticks %v", period, k.ticks)
			}
			got, missed := k.ticks[1], int64(last)/int64(period)-2
			if got.scheduled != last || got.at != now {
				t.Errorf("%v: tick {scheduled missed at} %v, want scheduled %d", period, got, last)
			}
			if want := int(min(missed, math.MaxInt)); got.missed != want {
				t.Errorf("%v: %d missed, want %d", period, got.missed, want)
			}
			tm.Stop()
			k.done()
		})
	}
}

// TestEveryFarAway: a period of centuries, and a schedule that reaches the end of time.
func TestEveryFarAway(t *testing.T) {
	v := clock.NewVirtual()
	var got []clock.Instant
	tm := timer.Every(100*year, func(scheduled clock.Instant, missed int) {
		got = append(got, scheduled)
	}, timer.Inline(), on(v))
	for range 4 {
		v.Advance(100 * year)
	}
	if want := []clock.Instant{clock.Instant(100 * year), clock.Instant(200 * year)}; !slices.Equal(got, want) {
		t.Errorf("ticks %v, want %v", got, want)
	}
	if !tm.Stop() {
		t.Error("it was no longer armed")
	}
}

// TestEveryStoppedFromItsFunctionBubble: that call was the last.
func TestEveryStoppedFromItsFunctionBubble(t *testing.T) {
	for _, opts := range [][]timer.Option{nil, {timer.Inline()}, {timer.Burst()}, {timer.Delay()}} {
		synctest.Test(t, func(t *testing.T) {
			v := clock.NewVirtual()
			n := 0
			var tm *timer.Timer
			tm = timer.Every(10, func(clock.Instant, int) {
				if n++; n == 3 && (!tm.Stop() || tm.Stop()) {
					t.Error("Stop from within: true once")
				}
			}, append(opts, on(v))...)
			for range 100 {
				v.Advance(1)
				synctest.Wait()
			}
			if n != 3 || tm.Stop() || v.Jump() {
				t.Errorf("%d calls, or it is still armed", n)
			}
		})
	}
}

// TestEveryResetBubble: it goes on from there, with its period; whether it waited, ran or was stopped.
func TestEveryResetBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newTicker(t)
		tm := timer.Every(10, k.f, on(k.v))
		k.to(14)
		if !tm.Reset(3) {
			t.Error("Reset of an armed one: false")
		}
		k.to(30)
		k.expect("reset", tick{10, 0, 10}, tick{17, 0, 17}, tick{27, 0, 27})
		tm.Stop()
		k.to(50)
		if tm.Reset(5) {
			t.Error("Reset of a stopped one: true")
		}
		k.to(66)
		k.expect("stopped and reset", tick{55, 0, 55}, tick{65, 0, 65})

		k.block = true
		k.to(75)
		if !tm.Reset(10) { // to 85, while the call of 75 runs
			t.Error("Reset of one that runs: false")
		}
		k.to(78)
		k.block = false
		k.done()
		k.to(96)
		k.expect("reset while running", tick{75, 0, 75}, tick{85, 0, 85}, tick{95, 0, 95})
		tm.ResetAt(200)
		k.to(210)
		k.expect("reset to an instant", tick{200, 0, 200}, tick{210, 0, 210})
		tm.Reset(-5)
		k.expect("a negative duration is none", tick{210, 0, 210})
		tm.Stop()
	})
}

// TestEveryResetDoesNotOverlapBubble: armed for a time at which the call still runs, it comes when that has ended.
func TestEveryResetDoesNotOverlapBubble(t *testing.T) {
	for _, c := range []struct {
		late timer.Option
		want []tick
	}{
		{timer.Skip(), []tick{{10, 0, 10}, {32, 1, 40}, {42, 0, 42}}},
		{timer.Burst(), []tick{{10, 0, 10}, {22, 0, 40}, {32, 0, 40}, {42, 0, 42}}},
		{timer.Delay(), []tick{{10, 0, 10}, {22, 0, 40}, {50, 0, 50}}},
	} {
		synctest.Test(t, func(t *testing.T) {
			k := newTicker(t)
			k.block = true
			tm := timer.Every(10, k.f, c.late, on(k.v))
			k.to(12)
			tm.Reset(10) // 22
			k.to(40)
			k.block = false
			k.done()
			k.to(50)
			k.expect(fmt.Sprintf("%v", c.want), c.want...)
			tm.Stop()
		})
	}
}

// TestEveryResetFromItsFunction: the period from then on starts where Reset says.
func TestEveryResetFromItsFunction(t *testing.T) {
	v := clock.NewVirtual()
	var got []clock.Instant
	var tm *timer.Timer
	tm = timer.Every(10, func(scheduled clock.Instant, missed int) {
		got = append(got, scheduled)
		if len(got) == 2 && !tm.Reset(3) {
			t.Error("Reset from within: it goes on anyway, so it was armed")
		}
	}, timer.Inline(), on(v))
	v.Advance(45)
	if want := []clock.Instant{10, 20, 23, 33, 43}; !slices.Equal(got, want) {
		t.Errorf("ticks %v, want %v", got, want)
	}
	tm.Stop()
}

// TestEveryStopWaitBubble: also for a call that runs while its timer was reset.
func TestEveryStopWaitBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newTicker(t)
		k.block = true
		tm := timer.Every(10, k.f, timer.Burst(), on(k.v))
		k.to(35)
		done := false
		go func() {
			if !tm.StopWait() {
				t.Error("StopWait: false")
			}
			done = true
		}()
		synctest.Wait()
		if done {
			t.Error("StopWait did not wait")
		}
		k.done()
		if !done {
			t.Error("StopWait still waits")
		}
		k.to(100)
		k.expect("after StopWait", tick{10, 0, 10})
	})
}
