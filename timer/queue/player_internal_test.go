package queue

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"bide.invalid/bide/clock"
)

// A player plays operations on a queue, and holds every answer against a naive reference: a list of what is in, each
// with the bounds between which it may be given out.
type player struct {
	c     Candidate
	q     *timers
	items []Item
	ref   []entry // in the order of scheduling
	told  clock.Instant
	calls int           // of Expire
	since clock.Instant // told, when everything that was due had been given out
	buf   []*Item
	loose bool // the order of what is due in one tick is not known any more
}

type entry struct {
	id     int
	at     clock.Instant // as asked for
	calls  int           // of Expire before it was scheduled
	lo, hi clock.Instant // it comes at lo or later, and by hi if Expire is called at Next
}

func newPlayer(t testing.TB, c Candidate, n int) *player {
	return &player{c: c, q: probed(t, c.New()), items: make([]Item, n), buf: make([]*Item, n+16)}
}

// entry is what the candidate's row of the table says about a deadline.
func (p *player) entry(id int, at clock.Instant) entry {
	e := entry{id, at, p.calls, at, at}
	switch tick := clock.Instant(p.c.Tick); {
	case at <= p.told:
		e.lo, e.hi = p.told, p.told
	case at > horizon:
		e.lo, e.hi = clock.Forever, clock.Forever
	case tick != 0:
		e.lo = (at-1)/tick*tick + tick
		e.hi = e.lo
		if p.c.Coarse {
			e.hi = at.Add(p.c.Late(at.Sub(p.since)))
		}
	}
	return e
}

func (p *player) find(id int) int {
	for i := range p.ref {
		if p.ref[i].id == id {
			return i
		}
	}
	return -1
}

func (p *player) forget(i int) { p.ref = slices.Delete(p.ref, i, i+1) }

// first is the earliest bound of what is in.
func (p *player) first() clock.Instant {
	first := clock.Forever
	for _, e := range p.ref {
		first = min(first, e.hi)
	}
	return first
}

// next is Next, with Forever for none.
func (p *player) next() clock.Instant {
	if at, ok := p.q.Next(); ok {
		return at
	}
	return clock.Forever
}

func (p *player) lazy() bool { return p.c.Name == "heap4-lazy" }

// cascades: what is left of a slot, and what moved later, is filed again behind what was scheduled meanwhile.
func (p *player) cascades() bool {
	return p.c.Name == "wheel" || p.c.Name == "wheel of 1 ns" || p.c.Name == "wheel-slab"
}

// settled checks what holds after every operation.
func (p *player) settled() error {
	if p.q.Len() != len(p.ref) {
		return fmt.Errorf("Len is %d, want %d", p.q.Len(), len(p.ref))
	}
	switch next, first := p.next(), p.first(); {
	case next > max(first, p.told):
		return fmt.Errorf("Next is %d, but something is due by %d", next, first)
	case first == clock.Forever && next != first:
		return fmt.Errorf("Next is %d, but nothing will come", next)
	case next != max(first, p.told) && p.c.Tick == 0 && !p.lazy():
		return fmt.Errorf("Next is %d, want %d", next, first)
	}
	return nil
}

// schedule is Schedule, or Reschedule.
func (p *player) schedule(id int, at clock.Instant, re bool) error {
	before, isNext := p.next(), false
	if re {
		i := p.find(id)
		p.loose = p.loose || i >= 0
		isNext = p.q.Reschedule(&p.items[id], at)
		if i >= 0 {
			p.forget(i)
		}
	} else {
		isNext = p.q.Schedule(&p.items[id], at)
	}
	p.ref = append(p.ref, p.entry(id, at))
	if after := p.next(); isNext != (after < before) {
		return fmt.Errorf("Schedule of %d at %d: isNext %v, but Next was %d and is %d", id, at, isNext, before, after)
	}
	if due := p.items[id].Due(); due != max(at, p.told) {
		return fmt.Errorf("Due of %d is %d, want %d", id, due, max(at, p.told))
	}
	return p.settled()
}

func (p *player) cancel(id int) error {
	i, before, first := p.find(id), p.next(), p.first()
	was, wasNext := p.q.Cancel(&p.items[id])
	if was != (i >= 0) {
		return fmt.Errorf("Cancel of %d: was %v", id, was)
	}
	if i < 0 {
		if wasNext {
			return fmt.Errorf("Cancel of %d, which is not in: wasNext", id)
		}
		return p.settled()
	}
	e := p.ref[i]
	p.forget(i)
	switch after := p.next(); {
	case wasNext && e.hi == clock.Forever:
		return fmt.Errorf("Cancel of %d, which never comes: wasNext", id)
	case wasNext && before > max(e.hi, p.told):
		return fmt.Errorf("Cancel of %d: wasNext, but Next was %d, after its %d", id, before, e.hi)
	case !wasNext && after != before:
		return fmt.Errorf("Cancel of %d: not wasNext, but Next was %d and is %d", id, before, after)
	case p.c.Tick == 0 && !p.lazy() && wasNext != (e.hi == first && first != clock.Forever):
		return fmt.Errorf("Cancel of %d: wasNext %v, but Next was %d", id, wasNext, before)
	}
	return p.settled()
}

var guard = new(Item)

// expire is Expire, with a buffer for limit items, over and over, or once.
func (p *player) expire(now clock.Instant, limit int, once bool) (ids []int, err error) {
	p.told = max(p.told, now)
	for {
		clear(p.buf)
		buf := p.buf[:limit+1]
		buf[limit] = guard
		n := p.q.Expire(now, buf[:limit])
		p.calls++
		for _, x := range buf[:n] {
			id, err := p.given(x)
			if err != nil {
				return ids, err
			}
			ids = append(ids, id)
		}
		for i, x := range buf[n:] {
			if x != nil && (x != guard || n+i != limit) {
				return ids, fmt.Errorf("Expire returned %d, and wrote behind that", n)
			}
		}
		if err := p.settled(); err != nil {
			return ids, err
		}
		if once && n == limit {
			p.loose = true
			return ids, nil
		}
		if n < limit {
			break
		}
	}
	p.since = p.told
	if next := p.next(); next <= p.told {
		return ids, fmt.Errorf("at %d nothing is left to come, but Next is %d", p.told, next)
	}
	if first := p.first(); first <= p.told {
		return ids, fmt.Errorf("at %d nothing is left to come, but something is due by %d", p.told, first)
	}
	return ids, nil
}

// given checks that it was x's turn.
func (p *player) given(x *Item) (id int, err error) {
	id = -1
	for i := range p.items {
		if x == &p.items[i] {
			id = i
		}
	}
	i := p.find(id)
	if i < 0 {
		return id, fmt.Errorf("at %d item %d is given out, which is not in", p.told, id)
	}
	e := p.ref[i]
	p.forget(i)
	if e.lo > p.told || e.at > p.told {
		return id, fmt.Errorf("at %d item %d is early: due at %d", p.told, id, e.at)
	}
	for j, f := range p.ref {
		same := f.hi == e.lo
		if p.c.Coarse {
			same = f.at == e.at && f.calls == e.calls
		}
		if f.hi < e.lo || same && j < i && !(p.loose && p.cascades()) {
			return id, fmt.Errorf("at %d item %d (at %d) is given out before %d (at %d)", p.told, id, e.at, f.id, f.at)
		}
	}
	return id, nil
}

// drain calls Expire at Next until nothing comes any more, and returns the order. What is too far for that is jumped to.
func (p *player) drain() (ids []int, err error) {
	for looks := 0; ; looks++ {
		at, ok := p.q.Next()
		switch {
		case !ok:
			for _, e := range p.ref {
				if e.hi != clock.Forever {
					return ids, fmt.Errorf("nothing is to come, but %d is in", e.id)
				}
			}
			return ids, nil
		case looks > 50+8*len(p.items):
			at, looks = max(at, p.first()), 0
		}
		more, err := p.expire(at, 1+len(p.items)/2, false)
		ids = append(ids, more...)
		if err != nil {
			return ids, err
		}
	}
}

// uptime tells the queue that some time has passed.
func (p *player) uptime(now clock.Instant) error {
	_, err := p.expire(now, 1, false)
	return err
}

// candidates are the table's, and the same structures with other ticks and sizes: smaller ones turn more often.
func candidates() []Candidate {
	const odd = 10 * time.Millisecond
	return append(All(),
		Candidate{Name: "wheel of 1 ns", New: func() Queue { return NewWheel(1) }, Tick: 1},
		Candidate{Name: "wheel-simple of 8 x 10 ms", New: func() Queue { return NewSimpleWheel(odd, 8) }, Tick: odd},
		Candidate{Name: "wheel-hashed of 4 x 10 ms", New: func() Queue { return NewHashedWheel(odd, 4) }, Tick: odd},
		Candidate{Name: "wheel-noncascading of 10 ms", New: func() Queue { return NewNonCascadingWheel(odd) }, Tick: odd, Coarse: true},
	)
}
