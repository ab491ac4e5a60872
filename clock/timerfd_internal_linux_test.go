package clock

import (
	"errors"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"
)

// A fakeTimer is a timer that comes when the test says so. With hold set, a goroutine whose read has an answer is kept
// from going on, as if it were preempted there.
type fakeTimer struct {
	answers chan error

	mu      sync.Mutex
	sets    []Instant
	fail    error // of settime and stop
	reading int
	most    int
	hold    chan struct{}
}

func (f *fakeTimer) forget() {
	select {
	case <-f.answers:
	default:
	}
}

func (f *fakeTimer) settime(at Instant) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fail == nil {
		f.sets = append(f.sets, at)
		f.forget()
	}
	return f.fail
}

func (f *fakeTimer) stop() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fail == nil {
		f.forget()
		f.answers <- os.ErrDeadlineExceeded
	}
	return f.fail
}

func (f *fakeTimer) close() {
	f.forget()
	f.answers <- os.ErrClosed
}

func (f *fakeTimer) read() error {
	f.mu.Lock()
	f.reading++
	f.most = max(f.most, f.reading)
	f.mu.Unlock()
	err := <-f.answers
	f.mu.Lock()
	f.reading--
	hold := f.hold
	f.mu.Unlock()
	if hold != nil {
		<-hold
	}
	return err
}

// A desk is an alarm on a fake timer, which is taken through its transitions one by one, in a bubble.
type desk struct {
	t      *testing.T
	a      *timerfdAlarm
	timer  *fakeTimer
	refuse error // of open
	step   time.Duration
	taken  map[string]bool

	mu   sync.Mutex
	came []Instant
}

// errRefused stands for any failure that has no passing reason.
var errRefused = errors.New("refused")

func withDesk(t *testing.T, taken map[string]bool, body func(d *desk)) {
	synctest.Test(t, func(t *testing.T) {
		d := &desk{t: t, taken: taken}
		k := kernelClock{now: func() Instant { return Now().Add(d.step) }}
		d.a = newTimerfdAlarm(&k, func(now Instant) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.came = append(d.came, now)
		})
		d.a.open = func() (kernelTimer, error) {
			if d.refuse != nil {
				return nil, d.refuse
			}
			d.timer = &fakeTimer{answers: make(chan error, 1)}
			return d.timer, nil
		}
		body(d)
		d.a.set(Forever)
		synctest.Wait() // and the bubble finds it if a goroutine stays
		if d.timer != nil && d.timer.most > 1 {
			t.Errorf("I2: %d goroutines waited for one timer", d.timer.most)
		}
	})
}

func (d *desk) now() Instant { return d.a.now() }

// state names the alarm's state.
func (d *desk) state() string {
	d.a.mu.Lock()
	defer d.a.mu.Unlock()
	switch set := d.a.at != Forever; {
	case d.a.elsewhere && d.a.timer == nil && !set && !d.a.waiting:
		return "elsewhere"
	case d.a.elsewhere:
		return "elsewhere, and something else"
	case set && d.a.waiting:
		return "set"
	case set:
		return "set, and nobody waits"
	case d.a.waiting:
		return "leaving"
	}
	return "clear"
}

// do runs op, lets the bubble come to rest, and records the transitions if the alarm went from one state to the other.
func (d *desk) do(names, from, to string, op func()) {
	d.t.Helper()
	before := d.state()
	op()
	synctest.Wait()
	if after := d.state(); before != from || after != to {
		d.t.Fatalf("%s: from %s to %s, want from %s to %s", names, before, after, from, to)
	}
	for _, name := range strings.Fields(names) {
		d.taken[name] = true
	}
}

// expect compares the calls, and forgets them.
func (d *desk) expect(when string, want ...Instant) {
	d.t.Helper()
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	if !slices.Equal(d.came, want) {
		d.t.Fatalf("%s: called %v, want %v", when, d.came, want)
	}
	d.came = nil
}

// expectSets compares what the timer was set to.
func (d *desk) expectSets(when string, want ...Instant) {
	d.t.Helper()
	if !slices.Equal(d.timer.sets, want) {
		d.t.Fatalf("%s: set to %v, want %v", when, d.timer.sets, want)
	}
	d.timer.sets = nil
}

// hold keeps the goroutine that comes from read next; the function lets it go on.
func (d *desk) hold() (release func()) {
	ch := make(chan struct{})
	d.timer.hold = ch
	return func() {
		d.timer.hold = nil
		close(ch)
		synctest.Wait()
	}
}

func (d *desk) set(in time.Duration) func() { return func() { d.a.set(d.now().Add(in)) } }
func (d *desk) clear()                      { d.a.set(Forever) }
func (d *desk) answer(err error) func()     { return func() { d.timer.answers <- err } }

func TestTimerfdTransitions(t *testing.T) {
	taken := map[string]bool{}
	run := func(name string, body func(t *testing.T, d *desk, now Instant)) {
		t.Run(name, func(t *testing.T) { withDesk(t, taken, func(d *desk) { body(d.t, d, d.now()) }) })
	}

	run("set, moved, comes", func(t *testing.T, d *desk, now Instant) {
		d.do("", "clear", "clear", d.clear)
		if d.timer != nil {
			t.Error("opened before the first Set")
		}
		d.do("A1", "clear", "set", d.set(10))
		d.do("A2", "set", "set", d.set(20))
		d.do("A2", "set", "set", d.set(5))
		d.expectSets("set and moved twice", now+10, now+20, now+5)
		time.Sleep(5)
		d.do("A6", "set", "clear", d.answer(nil))
		d.expect("at the time", now+5)
		opened := d.timer
		d.do("A1", "clear", "set", d.set(7))
		if d.timer != opened {
			t.Error("opened again")
		}
		time.Sleep(8)
		d.do("A6", "set", "clear", d.answer(nil))
		d.expect("again, late", now+13)
		d.expectSets("again", now+12)
	})

	run("not yet", func(t *testing.T, d *desk, now Instant) {
		d.do("A1", "clear", "set", d.set(10))
		for _, err := range []error{nil, unix.ECANCELED, os.ErrDeadlineExceeded, &os.PathError{Err: unix.ECANCELED}} {
			d.do("A7", "set", "set", d.answer(err))
		}
		d.expect("before the time")
		d.expectSets("each time", now+10, now+10, now+10, now+10, now+10)
		time.Sleep(10)
		d.do("A6", "set", "clear", d.answer(unix.ECANCELED))
		d.expect("at the time", now+10)
	})

	run("steps", func(t *testing.T, d *desk, now Instant) {
		d.do("A1", "clear", "set", d.set(10))
		d.step = 100
		d.do("A6", "set", "clear", d.answer(unix.ECANCELED))
		d.expect("forward, past the time", now+100)

		d.do("A1", "clear", "set", d.set(10))
		d.step = -100
		time.Sleep(10) // the expiration was read before the step, or the kernel knows nothing of it
		d.do("A7", "set", "set", d.answer(nil))
		d.expect("backward")
		d.expectSets("backward", now+10, now+110, now+110)
		time.Sleep(200)
		d.do("A6", "set", "clear", d.answer(nil))
		d.expect("at the time, after all", now+110)
	})

	run("cleared", func(t *testing.T, d *desk, now Instant) {
		d.do("A1", "clear", "set", d.set(time.Hour))
		release := d.hold()
		d.do("A3", "set", "leaving", d.clear)
		d.do("", "leaving", "leaving", d.clear)
		d.do("A5", "leaving", "clear", release)
		d.do("A1", "clear", "set", d.set(time.Hour))
		d.do("A3 A5", "set", "clear", d.clear)
		time.Sleep(2 * time.Hour)
		d.expect("cleared")
	})

	run("set while it leaves", func(t *testing.T, d *desk, now Instant) {
		d.do("A1", "clear", "set", d.set(time.Hour))
		release := d.hold()
		d.do("A3", "set", "leaving", d.clear)
		d.do("A4", "leaving", "set", d.set(10))
		d.do("A7", "set", "set", release)
		time.Sleep(10)
		d.do("A6", "set", "clear", d.answer(nil))
		d.expect("at the time", now+10)

		d.do("A1", "clear", "set", d.set(time.Hour))
		release = d.hold()
		d.do("A3", "set", "leaving", d.clear)
		d.do("A4", "leaving", "set", d.set(-5))
		d.do("A6", "set", "clear", release)
		d.expect("set to the past", now+10)
	})

	run("preempted with an expiration in hand", func(t *testing.T, d *desk, _ Instant) {
		for _, c := range []struct {
			what string
			ops  []func()
			end  string
		}{
			{"moved", []func(){d.set(time.Second)}, "set"},
			{"moved back and forth", []func(){d.set(-5), d.set(time.Second)}, "set"},
			{"cleared", []func(){d.clear}, "clear"},
			{"cleared and set", []func(){d.clear, d.set(time.Second)}, "set"},
			{"moved and cleared", []func(){d.set(time.Second), d.clear}, "clear"},
			{"cleared, set and cleared", []func(){d.clear, d.set(-5), d.clear}, "clear"},
		} {
			d.do("A1", "clear", "set", d.set(10))
			release := d.hold()
			time.Sleep(10)
			d.do("", "set", "set", d.answer(nil))
			for _, op := range c.ops {
				op()
			}
			d.do("", d.state(), c.end, release)
			d.expect(c.what)
			if c.end == "set" {
				time.Sleep(time.Second)
				d.do("A6", "set", "clear", d.answer(nil))
				d.expect(c.what+", in the end", d.now())
			}
		}
	})

	run("no timer", func(t *testing.T, d *desk, now Instant) {
		d.refuse = unix.EMFILE
		d.do("A8", "clear", "elsewhere", d.set(10))
		time.Sleep(9)
		d.expect("too early")
		time.Sleep(1)
		d.expect("at the time", now+10)
		d.do("A10 A8", "elsewhere", "elsewhere", d.set(10))
		d.do("A10", "elsewhere", "clear", d.clear)
		d.do("A8", "clear", "elsewhere", d.set(10))
		d.do("A10 A8", "elsewhere", "elsewhere", d.set(15))
		d.refuse = nil
		d.do("A10 A1", "elsewhere", "set", d.set(20))
		time.Sleep(20)
		d.expect("moved away from the portable alarm")
		d.do("A6", "set", "clear", d.answer(nil))
		d.expect("at the time", now+30)
	})

	run("the timer fails", func(t *testing.T, d *desk, _ Instant) {
		fail := func() { d.timer.fail = errRefused }
		comes := func(when string) {
			t.Helper()
			d.expect(when + ", too early")
			time.Sleep(10)
			d.expect(when, d.now())
			d.do("A10", "elsewhere", "clear", d.clear)
		}
		d.do("A1", "clear", "set", d.set(time.Hour))
		fail()
		d.do("A9", "set", "elsewhere", d.set(10))
		comes("in Set")

		d.do("A1", "clear", "set", d.set(10))
		d.do("A6", "set", "clear", func() { time.Sleep(10); d.timer.answers <- nil })
		d.expect("in order", d.now())
		fail()
		d.do("A9", "clear", "elsewhere", d.set(10))
		comes("in Set, and nobody waits")

		d.do("A1", "clear", "set", d.set(10))
		fail()
		d.do("A9", "set", "elsewhere", d.clear)
		time.Sleep(20)
		d.expect("in Clear")

		d.do("A10 A1", "elsewhere", "set", d.set(10))
		fail()
		d.do("A9", "set", "elsewhere", d.answer(nil))
		comes("in the goroutine")

		d.do("A1", "clear", "set", d.set(10))
		d.do("A9", "set", "elsewhere", d.answer(errRefused))
		comes("in read")

		d.do("A1", "clear", "set", d.set(time.Hour))
		release := d.hold()
		d.do("A3", "set", "leaving", d.clear)
		fail()
		d.do("A9", "leaving", "elsewhere", d.set(10))
		d.do("", "elsewhere", "elsewhere", release)
		comes("while the goroutine leaves")

		d.do("A1", "clear", "set", d.set(time.Hour))
		release = d.hold()
		d.do("", "set", "set", d.answer(nil))
		fail()
		d.do("A9", "set", "elsewhere", d.set(20))
		d.do("A10 A1", "elsewhere", "set", d.set(10)) // another timer, another goroutine
		d.do("", "set", "set", release)
		time.Sleep(10)
		d.do("A6", "set", "clear", d.answer(nil))
		d.expect("another timer", d.now())
	})

	demand(t, taken, "timerfd_linux.go")
}

// demand fails unless every transition that the comment in file lists was taken, and is marked in the code.
func demand(t *testing.T, taken map[string]bool, file string) {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	listed := regexp.MustCompile(`(?m)^//\t(A\d+) `).FindAllStringSubmatch(string(src), -1)
	if len(listed) == 0 {
		t.Fatalf("%s lists no transition", file)
	}
	for _, l := range listed {
		if !taken[l[1]] {
			t.Errorf("%s of %s was not taken", l[1], file)
		}
		if !regexp.MustCompile(`(?m)^\t.* // .*\b` + l[1] + `\b`).Match(src) {
			t.Errorf("no line of %s is marked as %s", file, l[1])
		}
	}
	t.Log("taken: " + strings.Join(slices.Sorted(maps.Keys(taken)), ", "))
}
