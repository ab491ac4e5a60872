package bide_test

import (
	"fmt"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
)

// The rules of scopes, written down the plain way: every scope is known, every instant is come to, nothing is lazy. What
// is kept is what has happened; each question is answered by going up the tree anew.
//
// A node is a scope, or a context of another kind between scopes.
type node struct {
	name    string
	parent  *node
	std     bool // context.WithCancel
	without bool // context.WithoutCancel
	shield  bool
	moveOn  bool
	idle    time.Duration
	due     clock.Instant // Forever: no bound
	fixed   clock.Instant // what SetDeadline has made it last; 0: nothing
	start   clock.Instant // when it was bounded first
	own     *event        // the first thing that has happened to the node itself, if nothing above was first
	called  bool
	closed  bool
	caught  bool
	stop    *stopping
	links   []*node
	crew    *crew // of a nursery

	// What canceled it is not determined: a link's goroutine and a deadline were due at one instant, or a deadline above
	// and one below a context of another kind were; or such a context was canceled, which does not say when, and the
	// deadline below it has passed as well; or it lies below a scope that was closed too early, which does not say either.
	loose bool
}

// An event has canceled a node.
type event struct {
	order   int
	at      clock.Instant
	source  bide.Source
	expired bool // it was the node's own bound
	cut     bool // a Stop's hard end, in a shield
	id      any  // of the *bide.Canceled that everybody below shares; nil: of a std, each scope right below makes one
}

// stopping is the Stop that holds for a node.
type stopping struct {
	end   clock.Instant
	fired bool
}

// A crew are a nursery's children, and its body.
type crew struct {
	supervise, repanic bool
	live               int
	errs               [][]part // in the order of completion
	leaf               *part
	panicked           string // what WithNursery panics with
}

// A part is a leaf of an error tree.
type part struct {
	text string
	leaf bool // it is a cancellation
	id   any  // of the *bide.Canceled; nil: a sentinel
}

type model struct {
	now   clock.Instant
	nodes []*node // outer before inner
	count int
}

// up is the node above, as cancellation sees it.
func (n *node) up() *node {
	if n.shield || n.without {
		return nil
	}
	return n.parent
}

// cause is what canceled n: the first thing that has happened to it, or to anything above it.
func (n *node) cause() *event {
	first := n.own
	for p := n.up(); p != nil; p = p.up() {
		if p.own != nil && (first == nil || p.own.order < first.order) {
			first = p.own
		}
	}
	return first
}

// id identifies the *bide.Canceled of a canceled scope.
func (n *node) id() any {
	e := n.cause()
	if e.id != nil {
		return e.id
	}
	maker := n
	for p := n.up(); p != nil && p.own != e; p = p.up() {
		if !p.std {
			maker = p
		}
	}
	return [2]any{e, maker}
}

// under reports whether n is p, or lies below, whatever is between.
func (n *node) under(p *node) bool {
	for n != nil && n != p {
		n = n.parent
	}
	return n != nil
}

// below reports whether n, or a node that it lies below, is what is asked for.
func (n *node) below(is func(*node) bool) bool {
	for n != nil && !is(n) {
		n = n.up()
	}
	return n != nil
}

func (n *node) undetermined() bool { return n.below(func(p *node) bool { return p.loose }) }

// alien reports whether n was canceled by a context of another kind, with no scope between.
func (n *node) alien() bool {
	e := n.cause()
	for n.std && n.own != e {
		n = n.parent
	}
	return n.std
}

func (n *node) depth() (d int) {
	for ; n != nil; n = n.parent {
		d++
	}
	return d
}

// happen cancels n, if it is not.
func (m *model) happen(n *node, e event) {
	if n.cause() != nil {
		return
	}
	m.count++
	e.order, e.at = m.count, m.now
	n.own = &e
}

func (m *model) cancel(n *node, source bide.Source) {
	m.happen(n, event{source: source, id: new(int)})
}

func (m *model) expire(n *node) {
	source := bide.ByDeadline
	if n.idle > 0 && n.fixed != n.due {
		source = bide.ByIdle
	}
	n.called = n.called || n.cause() == nil
	m.happen(n, event{source: source, expired: true, id: new(int)})
}

// hard is the hard end of a Stop of n: n is canceled, and then the shields below it, whose own bound goes first.
func (m *model) hard(n *node) {
	n.called = n.called || n.cause() == nil
	n.stop.fired = true
	m.cancel(n, bide.ByShutdown)
	for _, k := range m.nodes {
		if k.shield && !k.closed && k != n && k.under(n) {
			m.cut(k, n)
		}
	}
}

func (m *model) cut(k, by *node) {
	if k.due <= by.stop.end {
		m.expire(k)
	}
	k.called = k.called || k.cause() == nil
	m.happen(k, event{source: bide.ByShutdown, expired: true, cut: true, id: new(int)})
}

// stopNode is a Stop of n.
func (m *model) stopNode(n *node, grace time.Duration) {
	end := m.now.Add(max(grace, 0))
	if n.stop == nil || !n.stop.fired && end < n.stop.end {
		n.stop = &stopping{end: end}
	}
	m.come()
}

// open adds a scope that has just been opened.
func (m *model) open(n *node) {
	m.nodes = append(m.nodes, n)
	var by *node
	for p := n.parent; p != nil && n.shield; p = p.parent {
		if p.stop != nil && p.stop.fired && (by == nil || p.stop.end < by.stop.end) {
			by = p
		}
	}
	if by != nil {
		m.cut(n, by)
	}
	if n.due <= m.now {
		m.expire(n)
	}
}

// bound moves the deadline; it reports false if n is canceled or closed.
func (m *model) bound(n *node, due clock.Instant) bool {
	if n.cause() != nil || n.closed {
		return false
	}
	if due != clock.Forever && n.start == clock.Forever {
		n.start = m.now
	}
	n.due = max(due, m.now)
	n.fixed = n.due
	m.come()
	return true
}

func (m *model) progress(n *node) {
	for n != nil && n.idle == 0 {
		n = n.parent
	}
	if n != nil && n.due > m.now && n.due != clock.Forever {
		n.due = max(n.due, m.now.Add(n.idle))
	}
}

// next is the next instant at which something may happen.
func (m *model) next() clock.Instant {
	next := clock.Forever
	for _, n := range m.nodes {
		if n.due > m.now {
			next = min(next, n.due)
		}
		if n.stop != nil && n.stop.end > m.now {
			next = min(next, n.stop.end)
		}
	}
	return next
}

// advance moves to an instant, by way of all at which something happens.
func (m *model) advance(to clock.Instant) {
	for m.now < to {
		m.now = min(to, m.next())
		m.come()
	}
}

// come carries out what is due now, outer scopes first.
func (m *model) come() {
	for _, n := range m.nodes {
		if n.due <= m.now && !n.closed {
			m.expire(n)
		}
		if n.stop != nil && !n.stop.fired && n.stop.end <= m.now {
			m.hard(n)
		}
	}
	m.follow()
}

// follow carries out links, and marks what is not determined.
func (m *model) follow() {
	for again := true; again; {
		again = false
		for _, n := range m.nodes {
			for _, l := range n.links {
				e := l.cause()
				if e == nil || n.closed {
					continue
				}
				if mine := n.cause(); mine == nil {
					m.happen(n, event{source: e.source, id: new(int)})
					n.loose = n.loose || l.undetermined() || e.source == bide.ByAbandoned
					again = true
				} else if mine.at == e.at && mine.id != e.id {
					n.loose = true
				}
			}
		}
	}
	for _, n := range m.nodes {
		for p := n.up(); p != nil; p = p.up() {
			if e := p.cause(); p.std && e != nil && (p.own != nil && n.due <= m.now ||
				n.due == e.at || n.stop != nil && n.stop.end == e.at) {
				n.loose = true
			}
		}
	}
}

func (n *node) draining() bool {
	for p := n; p != nil; p = p.parent {
		if p.stop != nil {
			return true
		}
	}
	return n.cause() != nil
}

// remaining is the time until the effective deadline. A deadline on a virtual clock is not seen through a context of
// another kind.
func (m *model) remaining(n *node) time.Duration {
	if n.cause() != nil {
		return 0
	}
	left := clock.Forever
	p := n
	for ; p != nil && !p.std && !p.without; p = p.parent {
		left = min(left, p.due)
		if p.stop != nil {
			left = min(left, p.stop.end)
		}
		if p.shield {
			for q := p.parent; q != nil; q = q.parent {
				if q.stop != nil {
					left = min(left, q.stop.end)
				}
			}
			break
		}
	}
	if left == clock.Forever {
		return time.Duration(clock.Forever)
	}
	return left.Sub(m.now)
}

// exit is the exit rule: what becomes of the error of what ran in n.
func (m *model) exit(n *node, parts []part) (rest []part) {
	visible := n.up() != nil && n.up().cause() != nil
	e := n.cause()
	for _, p := range parts {
		if p.leaf && e != nil && !visible && (p.id == nil || !n.foreign(p.id)) {
			n.caught = true
		} else {
			rest = append(rest, p)
		}
	}
	if n.caught && e == n.own && e.expired && !n.moveOn {
		rest = append([]part{{text: m.timeout(n)}}, rest...)
	}
	n.closed = true
	early := n.cause() != nil // and perhaps nobody has looked
	m.happen(n, event{source: bide.ByAbandoned, id: "abandoned"})
	for _, k := range m.nodes {
		if e := k.cause(); k.std && e != nil && e.source == bide.ByAbandoned {
			k.loose = true // it is not told by what
		}
		if (early || k.due <= m.now) && !k.closed && k.under(n) {
			k.loose = true // it has met a closed scope, which does not remember
		}
	}
	m.follow()
	return rest
}

// foreign reports whether a *bide.Canceled is that of a scope above, through shields as well.
func (n *node) foreign(id any) bool {
	for p := n.parent; p != nil; p = p.parent {
		if !p.std && !p.without && p.cause() != nil && p.id() == id {
			return true
		}
	}
	return false
}

// timeout is the text that stands for the TimeoutError of n.
func (m *model) timeout(n *node) string {
	limit := max(0, n.due.Sub(n.start))
	switch {
	case n.own.cut:
		return fmt.Sprintf("cut %s", n.name)
	case n.own.source == bide.ByIdle:
		limit = n.idle
	}
	return fmt.Sprintf("timeout %s %d", n.name, limit)
}

// file is what a nursery does with what a child, or the body, has returned.
func (m *model) file(n *node, parts []part, source bide.Source) {
	c := n.crew
	if n.cause() != nil {
		var rest []part
		for _, p := range parts {
			switch {
			case !p.leaf:
				rest = append(rest, p)
			case c.leaf == nil:
				c.leaf = &p
			}
		}
		parts = rest
	}
	if len(parts) == 0 {
		return
	}
	c.errs = append(c.errs, parts)
	if !c.supervise || source != bide.BySibling {
		m.cancel(n, source)
		m.follow()
	}
}

// over is what a nursery returns when the last has ended.
func (m *model) over(n *node) (parts []part) {
	c := n.crew
	if c.panicked != "" {
		m.exit(n, nil)
		return []part{{text: c.panicked}}
	}
	var last []part
	if c.leaf != nil {
		last = []part{*c.leaf}
	}
	last = m.exit(n, last)
	for _, e := range c.errs {
		parts = append(parts, e...)
	}
	if n.caught && len(last) > 0 {
		return append(last, parts...)
	}
	return append(parts, last...)
}
