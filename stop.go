package bide

import (
	"sync/atomic"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/step"
	"bide.invalid/bide/timer"
)

// A shutdown is what a Stop has begun.
//
//	pending    the grace runs, and Draining is closed; the entry is scheduled while anybody may be left (settle)
//	replaced   a later Stop has a nearer end
//	fired      the hard end has come: it is being carried out, or has been
//
//	P1 → pending             Stop, under the mu of its scope; then whoever waits for Draining is told
//	P2 pending → replaced    a Stop that ends earlier, under mu
//	P3 pending → fired       the timer, a look that finds the instant passed, or a Stop without a grace; under mu. Then
//	                         the scope is canceled, and the shields below it are cut
//
// Who is told later finds out himself, by walking up: Draining after it has made its channel, a shield after it has
// been enlisted. Stop stores the shutdown first, and then looks for them: one of the two sees the other.
type shutdown struct {
	scope  *Scope
	start  clock.Instant
	at     clock.Instant // the hard end; Forever: none
	c      *Canceled     // what the scope is canceled with then
	wall   time.Time     // at, for the standard library, if it can be told
	isWall bool

	entry  timer.Entry // Cover and Cancel under the scope's mu
	fired  atomic.Bool // stored under the scope's mu
	report atomic.Pointer[StopReport]
}

// Stop ends the scope in two phases. The soft phase begins now: [Draining] is closed for everything below, in shields
// as well, and nothing is canceled. The hard end comes when grace has passed on the scope's clock: the scope and
// everything below it is canceled ([ByShutdown]) with the reason, which may be nil. Shields, which no other
// cancellation crosses, are cut as if their own bound had passed, with a [*TimeoutError] that names the shield; one
// that is entered later is cut from the start. With a grace of zero or less the hard end comes before Stop returns.
//
// A second Stop can only shorten what is left; if it does, its reason counts, else it does nothing. [Remaining] and
// Deadline treat the hard end as a deadline, except as [Remaining] says. A real deadline that comes before it still
// counts. On a canceled or closed scope Stop still bounds the shields that are left below it. With a grace of
// time.Duration(clock.Forever) there is only the soft phase.
//
// For the scope itself the hard end is like an explicit Cancel: its Close, or the end of its block, absorbs it, and
// there is no TimeoutError of the scope. Services of a nursery are not cut: they are canceled when those who depend on
// them have ended. Below a context.WithoutCancel scopes are out of reach, but shields are not. [Scope.StopReport] lists
// what was still running at the hard end.
//
// Stop does not wait for anybody. It costs some allocations and a walk over the scopes below that somebody waits under.
// What happened before Stop happened before a receive from a Draining that it closes.
func (s *Scope) Stop(grace time.Duration, reason error) { s.stop(ByShutdown, grace, reason) }

func (s *Scope) stop(source Source, grace time.Duration, reason error) {
	s.or(shared) // Close has a timer to take back
	now := s.now()
	st := &shutdown{scope: s, start: now, at: addTo(now, max(grace, 0))}
	st.c = s.canceledAt(source, reason, st.at)
	st.wall, st.isWall = s.timers().Clock().Time(st.at)
	st.isWall = st.isWall && st.at != clock.Forever
	st.entry.Init(st)
	h := s.halting()
	step.At("stop.store")
	s.mu.Lock()
	old := h.stop.Load()
	if old != nil && (old.fired.Load() || old.at <= st.at) {
		st = old
	} else {
		h.stop.Store(st) // P1, P2
	}
	s.mu.Unlock()
	step.At("stop.drain")
	for _, k := range s.tree() {
		k.drain()
	}
	if old != nil && old != st {
		old.settle()
	}
	if st.at <= now || st.fired.Load() {
		st.hard()
	} else {
		st.settle()
	}
}

// stopping is the shutdown that holds for s itself, or nil.
func (s *Scope) stopping() *shutdown {
	if x := s.extra.Load(); x != nil {
		if h := x.halt.Load(); h != nil {
			return h.stop.Load()
		}
	}
	return nil
}

// Due: locked.
func (st *shutdown) Due(now clock.Instant) (again clock.Instant, fired bool) {
	if st.at > now {
		return st.at, false
	}
	return clock.Forever, true
}

// Fire: not locked.
func (st *shutdown) Fire(clock.Instant) { st.come() }

// come carries out a hard end that has passed, unless somebody is at it, who may not have come to canceling yet.
func (st *shutdown) come() {
	if !st.fired.Load() {
		st.hard()
	}
}

// hard carries out the hard end: P3. It returns when everything below is canceled, whoever was first.
func (st *shutdown) hard() {
	s := st.scope
	step.At("stop.hard")
	s.mu.Lock()
	st = s.stopping() // if it was replaced, then by one whose end has come as well
	first := !st.fired.Swap(true)
	s.timers().Cancel(&st.entry)
	s.mu.Unlock()
	if first {
		s.look(true) // what is above goes first, and so does an earlier deadline, if their timers are late
		st.collect()
		if hook := s.extra.Load().halt.Load().hook; hook != nil {
			hook()
		}
	}
	s.cancel(st.c, called, clock.Forever)
	step.At("stop.cut")
	for _, k := range s.islands() {
		k.cut(st)
	}
}

// settle has the entry scheduled if the hard end may have something to do, and not scheduled otherwise. It is called
// after each change of what needed looks at, by whoever made the change; the last one to look gets it right.
func (st *shutdown) settle() {
	s := st.scope
	for {
		need := st.needed()
		step.At("stop.settle")
		s.mu.Lock()
		if need && !st.fired.Load() && s.stopping() == st {
			s.timers().Cover(&st.entry, st.at)
		} else {
			s.timers().Cancel(&st.entry)
		}
		s.mu.Unlock()
		if st.needed() == need {
			return
		}
	}
}

// needed reports whether anybody may be left at the hard end: a closed scope has only its shields.
func (st *shutdown) needed() bool {
	if st.at == clock.Forever {
		return false
	}
	if st.scope.state.Load()&closed == 0 {
		return true
	}
	for _, k := range st.scope.islands() {
		if k.state.Load()&(shield|spared|canceled|closed) == shield {
			return true
		}
	}
	return false
}
