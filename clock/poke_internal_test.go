package clock

import (
	"testing"
	"time"
)

// pokes are what a poker was told.
type pokes []Instant

func (p *pokes) poker() *poker {
	return &poker{due: Forever, poke: func(at Instant) { *p = append(*p, at) }}
}

// TestPokerEarly: a timer is set earlier by what waking takes, but by no more than half of the wait.
func TestPokerEarly(t *testing.T) {
	for _, c := range []struct{ lead, d, want time.Duration }{
		{0, time.Second, 0},
		{50, 1000, 50},
		{50, 100, 50},
		{50, 99, 49},
		{50, 1, 0},
		{50, 0, 0},
		{50, -1000, 0},
	} {
		p := poker{lead: c.lead}
		if got := p.early(c.d); got != c.want {
			t.Errorf("lead %d, in %d: %d early, want %d", c.lead, c.d, got, c.want)
		}
	}
}

// TestPokerLearns: it comes to the short side of what it sees, whatever it began with, and outliers count little.
func TestPokerLearns(t *testing.T) {
	var told pokes
	p := told.poker()
	took := func(d time.Duration) {
		p.set(1000, time.Microsecond)
		p.come(1999) // an earlier timer: no news
		p.come(Instant(2000 + d))
		p.come(Forever - 1) // once: no news, either
	}
	for _, c := range []struct {
		from, spread, least, most time.Duration // in µs
	}{
		{40, 0, 38, 42},
		{20, 0, 20, 22},
		{30, 20, 32, 40},
		{5000, 1000, 62, 64},
		{0, 0, 0, 1},
	} {
		for i := range 200 {
			d := (c.from + c.spread*time.Duration(i*5%16)/16) * time.Microsecond
			if i%50 == 10 {
				d = time.Second
			}
			took(d)
			if p.lead < 0 || p.lead > mostLead {
				t.Fatalf("lead %v", p.lead)
			}
		}
		if p.lead < c.least*time.Microsecond || p.lead > c.most*time.Microsecond {
			t.Errorf("%d to %d µs: lead %v, want %d to %d µs", c.from, c.from+c.spread, p.lead, c.least, c.most)
		}
	}
	before := p.lead
	for _, d := range []time.Duration{0, -5} { // has come already
		n := len(told)
		p.set(1000, d)
		p.come(Forever - 1)
		if len(told) != n || p.lead != before {
			t.Errorf("in %d: %d pokes, lead %v was %v", d, len(told)-n, p.lead, before)
		}
	}
	p.set(1000, 5)
	p.clear()
	p.come(Forever - 1)
	if last := told[len(told)-1]; last != Forever || p.lead != before {
		t.Errorf("cleared: poke at %v, lead %v was %v", last, p.lead, before)
	}
}

// TestAlarmIsPokedRealTime: at each Set and for as long as it is set, at the instant or a little earlier, and not before
// the runtime's timer.
func TestAlarmIsPokedRealTime(t *testing.T) {
	const lead = 10 * time.Microsecond
	var told pokes
	a := &runtimeAlarm{f: func(Instant) { t.Error("called") }, poke: told.poker()}
	a.poke.lead = lead
	check := func(what string, n int, at Instant) {
		t.Helper()
		if len(told) != n {
			t.Fatalf("%s: poked %d times, want %d", what, len(told), n)
		}
		if got := told[n-1]; got < at.Add(-lead) {
			t.Errorf("%s: poked for %v, want it for %v", what, got, at)
		}
		if want := at.Add(-lead); at != Forever && a.poke.due != want {
			t.Errorf("%s: the timer is set for %v, want %v", what, a.poke.due, want)
		}
	}
	a.Clear()
	far := Now().Add(time.Hour)
	a.Set(far)
	check("Set", 1, far)
	far += 1e9
	a.Set(far)
	check("moved", 2, far)
	a.come(&a.outside)
	check("a look at something stale", 3, far)
	a.Clear()
	check("Clear", 4, Forever)
	a.Clear()
	a.Set(Forever)
	check("Clear again", 4, Forever)
}

// TestAlarmWaitsInALoop: a timer that comes too early, by a little, waits for the rest; while it does, the alarm may be
// moved.
func TestAlarmWaitsInALoop(t *testing.T) {
	const at, far = Instant(time.Hour), Instant(1000 * time.Hour)
	for name, c := range map[string]struct {
		during func(a *runtimeAlarm)
		want   Instant // 0: not called
	}{
		"nothing": {func(*runtimeAlarm) {}, at},
		"cleared": {(*runtimeAlarm).Clear, 0},
		"later":   {func(a *runtimeAlarm) { a.Set(at + 7) }, at + 7},
		"far":     {func(a *runtimeAlarm) { a.Set(far) }, 0},
		"earlier": {func(a *runtimeAlarm) {
			a.outside.at = 5 // as Set, but for the timer
			a.come(&a.outside)
		}, at - 20},
	} {
		shows, came := at-30, []Instant(nil)
		var told pokes
		a := &runtimeAlarm{f: func(now Instant) { came = append(came, now) }, poke: told.poker()}
		a.now = func() Instant {
			if a.mu.TryLock() { // it is read in the loop
				a.mu.Unlock()
				if shows++; shows == at-20 {
					c.during(a)
				}
			}
			return shows
		}
		a.outside = setting{at: at, t: time.AfterFunc(time.Hour, func() {})}
		a.come(&a.outside)
		a.outside.t.Stop()
		if c.want == 0 && len(came) != 0 || c.want != 0 && (len(came) != 1 || came[0] != c.want) {
			t.Errorf("%s: called at %v, want it at %d", name, came, c.want)
		}
		if name == "far" && (len(told) != 2 || a.outside.at != far) {
			t.Errorf("%s: %d pokes, set for %v", name, len(told), a.outside.at)
		}
	}
}
