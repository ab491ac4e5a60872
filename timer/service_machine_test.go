package timer

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide/clock"
)

// The machine plays random operations on a service over a virtual clock, and compares what fires, when, and in which
// order with a naive score. It runs in a bubble, only to let what the clock calls on goroutines come to rest.

type opKind uint8

const (
	opSchedule opKind = iota // link, or move, to now+arg
	opCancel
	opAdvance           // by arg
	opNext              // advance to the next look
	opExpire            // a driver of one's own, for nothing: all that is due has fired
	opRepeat            // from now on the owner schedules itself anew when it fires, arg later, a few times
	opCover             // arm for now+arg
	opLater             // move the deadline arg later, without a call
	opIdle              // resolve, and leave the entry linked
	opKinds             // how many there are
	eagerOps  = opCover // from here on they are a sticky owner's
)

type op struct {
	kind opKind
	id   int
	arg  time.Duration // negative only for opSchedule and opCover
}

func (o op) String() string {
	name := [...]string{"schedule", "cancel", "advance", "next", "expire", "repeat", "cover", "later", "idle"}[o.kind]
	return fmt.Sprintf("%s %d %d", name, o.id, o.arg)
}

const players = 6

// player is an owner, as sticky as one can be: its deadline and whether it is armed are atomics.
type player struct {
	Entry
	m     *machine
	id    int
	due   atomic.Int64
	armed atomic.Bool
	again repeat
}

func (p *player) Due(now clock.Instant) (clock.Instant, bool) {
	switch due := clock.Instant(p.due.Load()); {
	case !p.armed.Load():
		return clock.Forever, false
	case due > now:
		return due, false
	case due > p.m.v.Now():
		p.m.early = true
	}
	p.armed.Store(false)
	return clock.Forever, true
}

func (p *player) Fire(now clock.Instant) {
	p.m.fired = append(p.m.fired, firing{now, p.id})
	if at, ok := p.again.next(now); ok {
		p.arm(at)
		p.m.s.Schedule(&p.Entry, at)
	}
}

func (p *player) arm(due clock.Instant) {
	p.due.Store(int64(due))
	p.armed.Store(due != clock.Forever)
}

type firing struct {
	at clock.Instant
	id int
}

// repeat is what is left of an opRepeat. The player and the score have one each.
type repeat struct {
	d time.Duration
	n int
}

func (r *repeat) next(now clock.Instant) (clock.Instant, bool) {
	if r.n == 0 {
		return 0, false
	}
	r.n--
	return now.Add(r.d), true
}

// score is the reference: who is armed for when. It knows nothing of levels and slots.
type score struct {
	shift uint8
	now   clock.Instant
	links int
	armed [players]bool
	due   [players]clock.Instant
	link  [players]int // ordinal: the order among equals
	again [players]repeat
}

func (c *score) arm(id int, due clock.Instant) {
	c.links++
	c.armed[id], c.due[id], c.link[id] = due != clock.Forever, due, c.links
}

// fire is when id is to fire: at its deadline rounded up, or now if that has passed.
func (c *score) fire(id int) clock.Instant {
	tick, due := clock.Instant(1), c.due[id]
	if c.shift != exact {
		tick <<= c.shift
	}
	if rest := due % tick; rest != 0 {
		due = due.Add(time.Duration(tick - rest))
	}
	return max(due, c.now)
}

// first is who is to fire next, or -1.
func (c *score) first() int {
	best := -1
	for id, armed := range c.armed {
		if armed && (best < 0 || c.before(id, best)) {
			best = id
		}
	}
	return best
}

// before: in the order of ticks and then of linking; without ticks what has passed goes by its deadline, too.
func (c *score) before(a, b int) bool {
	order := cmp.Compare(c.fire(a), c.fire(b))
	if order == 0 && c.shift == exact {
		order = cmp.Compare(c.due[a], c.due[b])
	}
	return cmp.Or(order, c.link[a]-c.link[b]) < 0
}

func (c *score) advance(end clock.Instant) (fired []firing) {
	for id := c.first(); id >= 0 && c.fire(id) <= end; id = c.first() {
		c.now = c.fire(id)
		c.armed[id] = false
		fired = append(fired, firing{c.now, id})
		if at, ok := c.again[id].next(c.now); ok {
			c.arm(id, at)
		}
	}
	c.now = max(c.now, end)
	return fired
}

type machine struct {
	v     *clock.Virtual
	s     *Service
	p     [players]*player
	score score
	fired []firing
	exact bool // nobody is sticky, so the order within an instant counts
	early bool
}

// play runs the operations on a service with ticks of 1<<shift.
func play(t *testing.T, shift uint8, ops []op) (err error) {
	m := &machine{v: clock.NewVirtual(), score: score{shift: shift}, exact: true}
	for _, o := range ops {
		m.exact = m.exact && o.kind < eagerOps
	}
	synctest.Test(t, func(*testing.T) {
		m.s = newService(m.v, m.v.NewAlarm, 1, shift)
		for id := range m.p {
			m.p[id] = &player{m: m, id: id}
			m.p[id].Init(m.p[id])
		}
		for i, o := range append(slices.Clip(ops), op{kind: opAdvance, arg: math.MaxInt64}) {
			if err = m.do(o); err != nil {
				err = fmt.Errorf("%v: %w\nshift %d, after %v", o, err, shift, ops[:min(i, len(ops))])
				return
			}
		}
	})
	return err
}

func (m *machine) do(o op) error {
	now, p := m.v.Now(), m.p[o.id]
	due := max(now.Add(o.arg), 0)
	m.fired = nil
	switch o.kind {
	case opSchedule:
		p.arm(due)
		m.s.Schedule(&p.Entry, due)
		m.score.arm(o.id, due)
	case opCancel:
		linked := p.n.At() != 0
		p.armed.Store(false)
		if was, _ := m.s.Cancel(&p.Entry); was != linked || m.exact && was != m.score.armed[o.id] {
			return fmt.Errorf("canceled %v, but linked %v, armed %v", was, linked, m.score.armed[o.id])
		}
		m.score.armed[o.id] = false
	case opAdvance:
		m.v.Advance(min(o.arg, (clock.Forever - 1).Sub(now)))
	case opNext:
		if at, ok := m.s.Next(); ok && at != clock.Forever {
			m.v.Advance(at.Sub(now))
		}
	case opExpire:
		if n := m.s.Expire(now); n != 0 {
			return fmt.Errorf("%d fired now that should have fired before", n)
		}
	case opRepeat:
		p.again = repeat{o.arg, 3}
		m.score.again[o.id] = p.again
	case opCover:
		p.arm(due)
		if due != clock.Forever {
			m.s.Cover(&p.Entry, due)
		}
		m.score.arm(o.id, due)
	case opLater:
		if m.score.armed[o.id] {
			due = m.score.due[o.id].Add(o.arg)
			p.arm(due)
			m.score.arm(o.id, due)
		}
	case opIdle:
		p.armed.Store(false)
		m.score.armed[o.id] = false
	}
	synctest.Wait()
	if err := m.compare(); err != nil {
		return err
	}
	return m.invariants()
}

func (m *machine) compare() error {
	want := m.score.advance(m.v.Now())
	if !m.exact {
		for _, list := range [][]firing{want, m.fired} {
			slices.SortStableFunc(list, func(a, b firing) int { return cmp.Or(cmp.Compare(a.at, b.at), a.id-b.id) })
		}
	}
	if m.early {
		return errors.New("a deadline after the present was found due")
	}
	if !slices.Equal(m.fired, want) {
		return fmt.Errorf("fired %v, want %v", m.fired, want)
	}
	return nil
}

func (m *machine) invariants() error {
	sh := &m.s.shards[0]
	first, armed := clock.Forever, 0
	for id := range m.p {
		if m.score.armed[id] {
			armed++
			first = min(first, m.score.fire(id))
		}
	}
	at, ok := m.s.Next()
	pending := m.s.Stats().Pending
	switch {
	case ok != (pending > 0), pending < armed, m.exact && pending != armed:
		return fmt.Errorf("next look at %v, %v; %d pending, %d armed", at, ok, pending, armed)
	case ok && (at > first || sh.target > at):
		return fmt.Errorf("next look at %v, alarm set for %v, but %v is due", at, sh.target, first)
	}
	return nil
}
