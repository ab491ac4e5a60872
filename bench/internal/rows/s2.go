package rows

import (
	"sync/atomic"

	"bide.invalid/bide/bench/internal/pair"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// S2: the variant that RFC 14 rejects is the baseline. There each timeout has an atomic of its own, allocated when it
// is started, in the place of a word with a generation that its owner uses again and again.
var s2 = pair.Row{
	Name: "S2", Title: "a word that is used again, or an atomic for each timeout", Procs: 2,
	Run: runS2,
	Lines: []pair.Line{
		{Case: "start and cancel, absolute", Ours: absolute, Rival: freshAtomic, Of: pair.Ns},
		{Case: "start and cancel, absolute", Ours: absolute, Rival: freshAtomic, Of: pair.CPU},
		{Case: "start and cancel, absolute", Ours: absolute, Rival: freshAtomic, Of: pair.Bytes},
		{Case: "start and cancel, absolute", Ours: absolute, Rival: freshAtomic, Of: pair.Allocs},
		{Case: "start and cancel, relative", Ours: relative, Rival: freshAtomic + "@relative", Of: pair.Ns},
	},
}

const freshAtomic = "a fresh atomic"

// fresh is kept with the one difference. An old token leads to an old atomic, which nobody looks at any more.
type fresh struct {
	timer.Entry
	due  atomic.Int64
	over atomic.Pointer[atomic.Bool] // whether the latest timeout has come to its end
}

func (f *fresh) Due(now clock.Instant) (clock.Instant, bool) {
	over := f.over.Load()
	if over.Load() {
		return clock.Forever, false
	}
	if due := clock.Instant(f.due.Load()); due > now {
		return due, false
	}
	return clock.Forever, over.CompareAndSwap(false, true)
}

func (f *fresh) Fire(clock.Instant) {}

func (f *fresh) arm(s *timer.Service, due clock.Instant) *atomic.Bool {
	if f.due.Load() != int64(due) {
		f.due.Store(int64(due))
	}
	over := new(atomic.Bool)
	f.over.Store(over)
	s.Cover(&f.Entry, due)
	return over
}

func (f *fresh) resolve(over *atomic.Bool) bool { return over.CompareAndSwap(false, true) }

func runS2(r *pair.Run) error {
	s, k, f := timer.Default(), newKept(), new(fresh)
	f.Init(f)
	defer s.Cancel(&k.Entry)
	defer s.Cancel(&f.Entry)
	for r.Next() {
		due := clock.After(minute)
		turns(r, []side{
			{freshAtomic, func() { f.resolve(f.arm(s, due)) }},
			{absolute, func() { k.resolve(k.arm(s, due)) }},
			{freshAtomic + "@relative", func() { f.resolve(f.arm(s, clock.After(minute))) }},
			{relative, func() { k.resolve(k.arm(s, clock.After(minute))) }},
		}, "")
	}
	return nil
}
