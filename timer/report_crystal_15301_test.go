package timer

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"bide.invalid/bide/clock"
)

// Crystal 15301. A canceled timeout forgot its wake-up time before it was taken out of the queue that it was ordered by,
// so with several threads others were looked for, or left behind, in the wrong place.
//
// Here the queue keeps its own copy of what it orders by. Owners forget their deadlines first and cancel afterwards: they
// are found, and the others come, all of them, each at its time.
func TestReportCrystal15301(t *testing.T) {
	for name, shift := range map[string]uint8{"heap": exact, "wheel": 0} {
		v := clock.NewVirtual()
		s := newService(v, v.NewAlarm, 1, shift)
		const n = 300
		var came []clock.Instant
		all := make([]*once, n)
		for i := range all {
			all[i] = newOnce(s, clock.Instant(1+i*7919%n)) // each of 1 to n once
			all[i].then = func(clock.Instant) { came = append(came, v.Now()) }
		}
		var want []clock.Instant
		for i, o := range all {
			if i%3 > 0 {
				want = append(want, o.due)
				continue
			}
			o.due = []clock.Instant{0, clock.Forever, -1, o.due + 1000, n}[i%5]
			if was, _ := s.Cancel(&o.Entry); !was {
				t.Fatalf("%s: the owner that had number %d was not found", name, i)
			}
		}
		slices.Sort(want)
		v.Advance(10 * n)
		if !slices.Equal(came, want) {
			t.Errorf("%s: came at %v, want %v", name, came, want)
		}
		if st := s.Stats(); st.Pending != 0 || st.Canceled != n/3 || st.Worst != 0 {
			t.Errorf("%s: %+v", name, st)
		}
	}
}

// forgetful has its deadline in an atomic, and clears it while its entry is linked.
type forgetful struct {
	Entry
	due, fired atomic.Int64
}

func (f *forgetful) Due(now clock.Instant) (clock.Instant, bool) {
	switch due := clock.Instant(f.due.Load()); {
	case due == 0:
		return clock.Forever, false
	case due > now:
		return due, false
	default:
		return clock.Forever, f.due.CompareAndSwap(int64(due), 0)
	}
}

func (f *forgetful) Fire(now clock.Instant) { f.fired.Store(int64(now)) }

// TestReportCrystal15301ThreadsBubble: the same while a driver is at work.
func TestReportCrystal15301ThreadsBubble(t *testing.T) {
	for name, shift := range map[string]uint8{"heap": exact, "wheel": 0} {
		synctest.Test(t, func(t *testing.T) {
			v := clock.NewVirtual()
			s := newService(v, v.NewAlarm, 1, shift)
			const n = 2000
			stay := make([]forgetful, n)
			for i := range stay {
				stay[i].Init(&stay[i])
				at := clock.Instant(1 + i*7919%n)
				stay[i].due.Store(int64(at))
				s.Schedule(&stay[i].Entry, at)
			}
			var over atomic.Bool
			var group sync.WaitGroup
			for g := range 2 {
				group.Go(func() {
					for i := 0; !over.Load(); i++ {
						f := new(forgetful)
						f.Init(f)
						at := v.Now() + clock.Instant(1+(i+g)*31%500)
						f.due.Store(int64(at))
						s.Schedule(&f.Entry, at)
						f.due.Store(0)
						s.Cancel(&f.Entry)
						if f.n.At() != 0 {
							t.Errorf("%s: still there after Cancel", name)
							return
						}
					}
				})
			}
			for range n {
				v.Advance(1)
				runtime.Gosched()
			}
			over.Store(true)
			group.Wait()
			synctest.Wait() // a driver may be on its way: some were linked when their time had passed
			for i := range stay {
				if at, due := stay[i].fired.Load(), int64(1+i*7919%n); at < due {
					t.Fatalf("%s: due %d, fired at %d", name, due, at)
				}
			}
			if p := s.Stats().Pending; p != 0 {
				t.Errorf("%s: %d pending", name, p)
			}
		})
	}
}
