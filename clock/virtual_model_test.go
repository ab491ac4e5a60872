package clock_test

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"bide.invalid/bide/clock"
)

// plan is the naive reference of a virtual clock: a list of what is set, sorted when it is asked.
type plan struct {
	now  clock.Instant
	sets int
	set  []planned
}

type planned struct {
	alarm, set int
	at         clock.Instant
}

func (p *plan) clear(alarm int) {
	p.set = slices.DeleteFunc(p.set, func(e planned) bool { return e.alarm == alarm })
}

func (p *plan) put(alarm int, at clock.Instant) {
	p.clear(alarm)
	p.sets++
	p.set = append(p.set, planned{alarm, p.sets, at})
	slices.SortFunc(p.set, func(a, b planned) int { return cmp.Or(cmp.Compare(a.at, b.at), a.set-b.set) })
}

// advance returns what comes by end. follow says what an alarm sets when it comes.
func (p *plan) advance(end clock.Instant, follow func(e planned)) (came []planned) {
	for len(p.set) > 0 && p.set[0].at <= end {
		e := p.set[0]
		p.set = p.set[1:]
		p.now = e.at
		came = append(came, planned{alarm: e.alarm, at: e.at})
		follow(e)
	}
	p.now = max(p.now, end)
	return came
}

// TestVirtualModel: random calls. Alarms set each other when they come: alarm k sets follower[k], later[k] later. An
// instant that has passed is left out, since another goroutine calls it.
func TestVirtualModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const alarms = 4
		v := clock.NewVirtual()
		var ref plan
		var came []planned
		a := make([]clock.Alarm, alarms)
		follower := rapid.SliceOfN(rapid.IntRange(-1, alarms-1), alarms, alarms).Draw(t, "follower")
		later := rapid.SliceOfN(rapid.IntRange(1, 9), alarms, alarms).Draw(t, "later")
		budget := 0 // of follow-ups, else they never end
		follow := func(k int, now clock.Instant, set func(k int, at clock.Instant)) {
			if f := follower[k]; f >= 0 && budget > 0 {
				budget--
				set(f, now.Add(time.Duration(later[k])))
			}
		}
		for k := range a {
			a[k] = v.NewAlarm(func(now clock.Instant) {
				came = append(came, planned{alarm: k, at: now})
				follow(k, now, func(f int, at clock.Instant) { a[f].Set(at) })
			})
		}
		move := func(end clock.Instant, real func()) {
			budget, came = 5, nil
			real()
			budget = 5
			want := ref.advance(end, func(e planned) { follow(e.alarm, e.at, ref.put) })
			if !slices.Equal(came, want) {
				t.Fatalf("came %v, want %v", came, want)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"set": func(t *rapid.T) {
				k := rapid.IntRange(0, alarms-1).Draw(t, "alarm")
				at := v.Now().Add(time.Duration(rapid.IntRange(1, 20).Draw(t, "in")))
				a[k].Set(at)
				ref.put(k, at)
			},
			"clear": func(t *rapid.T) {
				k := rapid.IntRange(0, alarms-1).Draw(t, "alarm")
				a[k].Clear()
				ref.clear(k)
			},
			"advance": func(t *rapid.T) {
				d := time.Duration(rapid.IntRange(0, 30).Draw(t, "by"))
				move(ref.now.Add(d), func() { v.Advance(d) })
			},
			"jump": func(t *rapid.T) {
				end, some := ref.now, len(ref.set) > 0
				if some {
					end = ref.set[0].at
				}
				move(end, func() {
					if got := v.Jump(); got != some {
						t.Fatalf("Jump: %v, want %v", got, some)
					}
				})
			},
			"": func(t *rapid.T) {
				if v.Now() != ref.now {
					t.Fatalf("the clock stands at %v, want %v", v.Now(), ref.now)
				}
			},
		})
	})
}
