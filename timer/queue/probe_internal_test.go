package queue

import (
	"fmt"
	"testing"

	"bide.invalid/bide/clock"
)

// A checker recomputes what the comment above the structure claims, and returns what is in, in any order.
type checker interface {
	structure
	check() ([]*Item, error)
}

// probe stands between a queue and its structure: it holds the queue to what it owes the structure, and the structure to
// its invariants.
type probe struct {
	checker
	t    testing.TB
	in   map[*Item]bool
	told clock.Instant
	ops  int
	rare int // how many operations pass between two checks of what has many slots
}

// probed puts a probe into a queue.
func probed(t testing.TB, q Queue) *timers {
	ts := q.(*timers)
	p := &probe{checker: ts.s.(checker), t: t, in: map[*Item]bool{}}
	switch s := ts.s.(type) {
	case *cascading, *slabWheel, *nonCascading:
		p.rare = 7
	case *simpleWheel:
		p.rare = len(s.slots) / 64
	case *hashedWheel:
		p.rare = len(s.slots) / 64
	}
	ts.s = p
	if ts.m != nil {
		ts.m = probedMover{p, ts.m}
	}
	return ts
}

func (p *probe) insert(x *Item) bool {
	p.must(!p.in[x], "an item is inserted twice")
	p.must(x.due > p.told && x.due <= horizon, "a deadline enters that has passed, or never comes")
	p.in[x] = true
	isNext := p.checker.insert(x)
	p.look()
	return isNext
}

func (p *probe) remove(x *Item) bool {
	p.must(p.in[x], "an item is removed that is not in")
	delete(p.in, x)
	wasNext := p.checker.remove(x)
	p.look()
	return wasNext
}

func (p *probe) pop(now clock.Instant) *Item {
	p.must(now >= p.told, "time goes back")
	p.told = now
	x := p.checker.pop(now)
	if x != nil {
		p.must(p.in[x], "an item is popped that is not in")
		p.must(x.due <= now, "an item is popped early")
		delete(p.in, x)
	}
	p.look()
	return x
}

type probedMover struct {
	*probe
	m mover
}

func (p probedMover) move(x *Item, at clock.Instant) bool {
	p.must(p.in[x], "an item is moved that is not in")
	p.must(at > p.told && at <= horizon, "an item is moved to where it must not enter")
	isNext := p.m.move(x, at)
	p.must(x.due == at, "an item is moved elsewhere")
	p.look()
	return isNext
}

func (p *probe) must(ok bool, what string) {
	if !ok {
		p.t.Fatal(what)
	}
}

// look checks the invariants: each time if there are few items, else now and then.
func (p *probe) look() {
	if p.ops++; p.ops%(1+p.rare+len(p.in)/16) != 0 {
		return
	}
	items, err := p.checker.check()
	if err != nil {
		p.t.Fatal(err)
	}
	p.must(len(items) == len(p.in), fmt.Sprintf("%d items are in, want %d", len(items), len(p.in)))
	for _, x := range items {
		p.must(p.in[x], "an item is in that should not be")
	}
}

// items is what a ring has; an error if its links do not match.
func (r *ring) items() (items []*Item, err error) {
	prev := &r.root
	for n := r.root.next; n != &r.root; n = n.next {
		if n.prev != prev || n.Owner == nil || &n.Owner.Node != n {
			return nil, fmt.Errorf("a ring is broken behind item %d", len(items))
		}
		items = append(items, n.Owner)
		prev = n
	}
	if r.root.prev != prev {
		return nil, fmt.Errorf("a ring's end is not its last item")
	}
	return items, nil
}
