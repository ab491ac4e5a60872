package timer

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide/clock"
)

// TestBubbleKeepsNoNodes: what was made in a bubble stays there.
func TestBubbleKeepsNoNodes(t *testing.T) {
	sh := def.pick(true)
	synctest.Test(t, func(t *testing.T) {
		for range 100 {
			AfterFunc(time.Hour, func() {}).Stop()
			AfterFunc(time.Second, func() {})
		}
		time.Sleep(time.Hour)
	})
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if len(sh.free) != 0 || len(sh.chunks) != 0 || sh.len() != 0 {
		t.Errorf("%d nodes, %d chunks, %d entries", len(sh.free), len(sh.chunks), sh.len())
	}
}

// TestBubbleEntryOutside: an entry that is still linked in a bubble that has ended, used outside. The runtime's word
// for it is a fatal error, as for its own timers, so it happens in a process of its own. It must not be taken for
// covered: that would be a timeout that never comes.
func TestBubbleEntryOutside(t *testing.T) {
	uses := map[string]func(o *once){
		"Schedule": func(o *once) { def.Schedule(&o.Entry, clock.After(time.Hour)) },
		"Cover":    func(o *once) { def.Cover(&o.Entry, clock.After(time.Hour)) },
		"Cancel":   func(o *once) { def.Cancel(&o.Entry) },
	}
	if use := uses[os.Getenv("BIDE_TEST_OUTSIDE")]; use != nil {
		o := new(once)
		o.Init(o)
		synctest.Test(t, func(*testing.T) { def.Schedule(&o.Entry, clock.After(time.Hour)) })
		use(o)
		t.Logf("not refused; linked for %d, a negative instant, which is the bubble's", o.n.At())
		return
	}
	for name := range uses {
		cmd := exec.Command(os.Args[0], "-test.run=^TestBubbleEntryOutside$", "-test.v")
		cmd.Env = append(os.Environ(), "BIDE_TEST_OUTSIDE="+name)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "fatal error: stop of synctest timer from outside bubble") {
			t.Errorf("%s: %v\n%.300s", name, err, out)
		}
	}
}

// TestBubbleExpireRealTime: a driver of one's own, in a bubble, on the service of the world outside. It has nothing to do
// there; and it would set alarms by the bubble's clock, for decades from now.
func TestBubbleExpireRealTime(t *testing.T) {
	s := newService(clock.Monotonic(), clock.Monotonic().NewAlarm, 2, coarse)
	fired := make(chan struct{})
	o := &once{due: clock.After(5 * time.Millisecond), then: func(clock.Instant) { close(fired) }}
	o.Init(o)
	before := s.Stats().Wakes
	synctest.Test(t, func(t *testing.T) {
		if n := s.Expire(clock.Now()); n != 0 || s.Stats().Wakes != before {
			t.Errorf("%d fired, %d drivers ran", n, s.Stats().Wakes-before)
		}
	})
	s.Schedule(&o.Entry, o.due)
	synctest.Test(t, func(t *testing.T) { s.Expire(clock.Now()) })
	if !t.Failed() { // else it does not come
		<-fired
	}
}

// An entry that is taken out of a service in which it is not: a mistake, but nothing breaks, and it stays where it is. The
// number of its shard is that of the other service's bubbles, once in a while.
func TestCancelInAnotherService(t *testing.T) {
	a := newService(clock.Monotonic(), clock.Monotonic().NewAlarm, 2, coarse)
	b := newService(clock.Monotonic(), clock.Monotonic().NewAlarm, 1, exact)
	for range 4 { // one in each shard at least
		o := new(once)
		o.Init(o)
		a.Schedule(&o.Entry, clock.After(time.Hour))
		if was, _ := b.Cancel(&o.Entry); was {
			t.Error("it was linked in a service that it was not given to")
		}
		if was, _ := a.Cancel(&o.Entry); !was {
			t.Error("it is not linked any more")
		}
	}
}
