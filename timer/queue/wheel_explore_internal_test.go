package queue

import (
	"fmt"
	"slices"
	"testing"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/invariant"
)

// An exploration goes through every state that a few entries, a few deadlines and a few readings of the clock can
// bring a wheel to. A state is kept as a snap, and every step starts with a wheel that is built from one.
type exploration struct {
	shift uint8
	dues  []clock.Instant
	nows  []int64 // ticks
	n     int     // entries
	limit int     // of one expiry, as a driver's batch
}

type snap struct {
	base int64
	open uint32
	e    [3]snapEntry
}

// rank and place are the entry's ordinals in the reference and in its slot; both 0 if it is not linked.
type snapEntry struct {
	linked      bool
	rank, place int8
	slot        uint32
	due         clock.Instant
	tick        int64
}

// world is a wheel, its entries, and its reference.
type world struct {
	w   Wheel[int]
	e   [3]Node[int]
	due [3]clock.Instant
	ref ref

	loose bool // see TestWheelExploredBatch
}

func (x *exploration) build(s *snap) *world {
	m := &world{w: Wheel[int]{shift: x.shift, open: s.open, base: s.base}, loose: x.limit < x.n}
	for rank := range int8(x.n) { // one at a time, in both orders
		for id := range s.e[:x.n] {
			if e := &s.e[id]; e.linked && e.rank == rank {
				m.ref.link(id, e.tick)
			}
		}
	}
	for place := range int8(x.n) {
		for id := range s.e[:x.n] {
			e := &s.e[id]
			if !e.linked || e.place != place {
				continue
			}
			m.due[id] = e.due
			m.e[id].place = e.slot
			m.e[id].at.Store(1)
			if l := uint(e.slot / width); l < levels {
				m.w.full[l] |= 1 << (e.slot % width)
				m.w.some |= 1 << l
				start := (s.base>>(l*digit)>>digit<<digit | int64(e.slot%width)) << (l * digit)
				m.e[id].at.Store((start-1)<<x.shift + 1)
			}
			m.w.count++
			m.w.push(&m.e[id])
		}
	}
	return m
}

func (m *world) snap() snap {
	s := snap{base: m.w.base, open: m.w.open}
	for rank, r := range m.ref {
		e := &s.e[r.id]
		*e = snapEntry{linked: true, rank: int8(rank), slot: m.e[r.id].place, due: m.due[r.id], tick: r.tick}
		for p := m.w.slots[e.slot]; p != &m.e[r.id]; p = p.next {
			e.place++
		}
	}
	return s
}

func (m *world) who(e *Node[int]) (id int, due clock.Instant) {
	for id := range m.e {
		if e == &m.e[id] {
			return id, m.due[id]
		}
	}
	panic("an entry that nobody linked")
}

func (m *world) check() error {
	linked := 0
	for id := range m.e {
		if m.e[id].next != nil {
			linked++
		}
	}
	if linked != len(m.ref) {
		return fmt.Errorf("%d entries are linked, want %d", linked, len(m.ref))
	}
	return checkWheel(&m.w, func(e *Node[int]) clock.Instant { _, due := m.who(e); return due })
}

func (m *world) link(id int, due clock.Instant) error {
	m.due[id] = due
	look := m.w.Link(&m.e[id], due)
	tick := max(m.w.tick(due), m.w.base)
	m.ref.link(id, tick)
	if n, ok := m.w.next(); !ok || look < m.w.instant(n) || look > m.w.instant(tick) {
		return fmt.Errorf("look is at %d, deadline %d, next %d", look, due, n)
	}
	return nil
}

func (m *world) unlink(id int) error {
	m.w.Unlink(&m.e[id])
	m.ref.unlink(id)
	return nil
}

func (m *world) forward(now int64) error {
	before, some := m.w.next()
	was := m.w.base
	m.w.forward(now)
	if want := max(was, now); (!some || before > now) && m.w.base != want || some && before <= now && m.w.base != was {
		return fmt.Errorf("forward to %d with next %d, %v: base %d was %d", now, before, some, m.w.base, was)
	}
	return nil
}

func (m *world) expire(now int64, limit int) error {
	all := slices.Clone(m.ref)
	want := m.ref.expire(max(now, m.w.base), limit)
	got, err := expire(&m.w, now, limit, m.who)
	if err != nil || slices.Equal(got, want) {
		return err
	}
	if !m.loose || len(got) != len(want) {
		return fmt.Errorf("expired %v, want %v", got, want)
	}
	for i, f := range got { // the order of ticks counts, that of equals does not
		if f.tick != want[i].tick || !slices.Contains(all, f) {
			return fmt.Errorf("expired %v, want %v in some order", got, want)
		}
		all.unlink(f.id)
	}
	m.ref = all
	return nil
}

// look is one look of a driver that stops then.
func (m *world) look(now int64) error {
	e, tick := m.w.pop(now)
	if e == nil {
		if late := m.ref.expire(max(now, m.w.base), 1); len(late) > 0 {
			return fmt.Errorf("nothing to look at by %d, but %v", now, late)
		}
		return nil
	}
	id, due := m.who(e)
	if m.w.instant(tick) < due {
		m.w.Link(e, due)
		return nil
	}
	if !slices.Contains(m.ref, linkedRef{id, tick}) || m.ref[0].tick != tick || tick > max(now, m.w.base) {
		return fmt.Errorf("at %d a look at %d finds %d due, of %v", now, tick, id, m.ref)
	}
	m.ref.unlink(id)
	return nil
}

// rest drives the wheel by its own get-min, as the alarm does, until it is empty: everything at its tick.
func (m *world) rest() error {
	for looks := 0; len(m.ref) > 0; looks++ {
		t, ok := m.w.next()
		if !ok || t < m.w.base || t > m.ref[0].tick || looks > 20*len(m.e) {
			return fmt.Errorf("look %d at %d, %v, with %v linked", looks, t, ok, m.ref)
		}
		if err := m.expire(t, len(m.e)); err != nil {
			return err
		}
	}
	return m.check()
}

// action is one operation of a state.
type action struct {
	name string
	id   int
	arg  int64
	do   func(m *world) error
}

func (x *exploration) steps(s *snap) (all []action) {
	for id := range s.e[:x.n] {
		if s.e[id].linked {
			all = append(all, action{"unlink", id, 0, func(m *world) error { return m.unlink(id) }})
		} else if id == 0 || s.e[id-1].linked { // symmetric
			for _, due := range x.dues {
				all = append(all, action{"link", id, int64(due), func(m *world) error { return m.link(id, due) }})
			}
		}
	}
	for _, now := range x.nows {
		all = append(all, action{"expire", 0, now, func(m *world) error { return m.expire(now, x.limit) }})
		if x.limit < x.n {
			all = append(all, action{"look", 0, now, func(m *world) error { return m.look(now) }})
		}
		if now > s.base {
			all = append(all, action{"forward", 0, now, func(m *world) error { return m.forward(now) }})
		}
	}
	return all
}

func (x *exploration) run(t *testing.T) {
	t.Helper()
	start := snap{open: overdue, base: max(0, x.nows[0]-1)}
	how := map[snap]string{start: ""} // a state, and a way that leads to it
	queue := []snap{start}
	ops := 0
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		for _, st := range x.steps(&s) {
			m := x.build(&s)
			err := st.do(m)
			if err == nil {
				err = m.check()
			}
			next := m.snap()
			path, seen := how[next]
			if !seen {
				path = fmt.Sprintf("%s; %s %d %d", how[s], st.name, st.id, st.arg)
			}
			if err == nil && !seen {
				err = m.rest()
			}
			if err != nil {
				t.Fatalf("%v\nshift %d, base %d%s; %s %d %d", err, x.shift, start.base, how[s], st.name, st.id, st.arg)
			}
			if ops++; !seen {
				how[next] = path
				queue = append(queue, next)
			}
		}
	}
	t.Logf("shift %d, from tick %d, %d entries: %d states, %d steps", x.shift, start.base, x.n, len(how), ops)
}

// around gives ticks at distances from a boundary, without those that an int64 of nanoseconds does not have.
func around(origin int64, shift uint8, distances ...int64) (ticks []int64) {
	for _, d := range distances {
		if t := origin + d; t >= 0 && t <= int64(clock.Forever)>>shift {
			ticks = append(ticks, t)
		}
	}
	slices.Sort(ticks)
	return slices.Compact(ticks)
}

// boundaries are ticks at which digits of a wheel turn over, up to the last that there is.
func boundaries(shift uint8) []int64 {
	last := int64(clock.Forever) >> shift
	switch {
	case invariant.On: // the race detector is here, or each step is slow; one goroutine has no races
		return []int64{4096, last}
	case shift > 0:
		return []int64{0, 64, 1 << 36, last}
	}
	return []int64{0, 64, 128, 4096, 1 << 18, 1 << 36, 1 << 54, 1 << 62, last}
}

// TestWheelExplored: two entries around every boundary, with deadlines at ticks, and just behind them.
func TestWheelExplored(t *testing.T) {
	for _, shift := range []uint8{0, coarse} {
		for _, origin := range boundaries(shift) {
			x := exploration{shift: shift, n: 2, limit: 2}
			x.nows = around(origin, shift, -65, -64, -1, 0, 1, 63, 64)
			for _, tick := range around(origin, shift, -64, -1, 0, 1, 63, 64, 65, 4096) {
				due := clock.Instant(tick << shift)
				x.dues = append(x.dues, due)
				if shift > 0 && tick != origin+4096 {
					x.dues = append(x.dues, due+1)
				}
			}
			x.dues = append(x.dues, clock.Forever-1)
			x.dues = slices.DeleteFunc(x.dues, func(at clock.Instant) bool { return at < 0 || at == clock.Forever })
			x.run(t)
		}
	}
}

// TestWheelExploredThree: three entries meet at a tick, coming from different levels.
func TestWheelExploredThree(t *testing.T) {
	for _, origin := range boundaries(coarse)[:2] {
		x := exploration{n: 3, limit: 3}
		x.nows = around(origin, 0, -64, -1, 0, 1, 64)
		for _, tick := range around(origin, 0, -1, 0, 1, 64) {
			x.dues = append(x.dues, clock.Instant(tick))
		}
		x.run(t)
	}
}

// TestWheelExploredBatch: an expiry that stops after one entry, or after one look, as a driver does whose batch is
// full. The order of ticks stays. That of equals does not: what is left of a coarse slot is still to be moved to where a newer one may be.
func TestWheelExploredBatch(t *testing.T) {
	for _, origin := range boundaries(coarse)[:2] {
		x := exploration{n: 3, limit: 1}
		x.nows = around(origin, 0, -1, 0, 1)
		for _, tick := range around(origin, 0, -1, 0, 1, 2) {
			x.dues = append(x.dues, clock.Instant(tick))
		}
		x.run(t)
	}
}
