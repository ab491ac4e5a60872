package syncs

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"bide.invalid/bide/park"
)

// Queued reports whether somebody waits at one of the ends, canceled or not.
func (q *Queue[T]) Queued() bool { s := q.Stats(); return s.Getting+s.Putting > 0 }

// A queueBench is a queue that is taken through its transitions one by one.
type queueBench struct {
	t     *testing.T
	q     *Queue[int]
	taken marks
}

func (b *queueBench) state() string {
	q := b.q
	q.mu.Lock()
	defer q.mu.Unlock()
	q.check()
	var in []int
	for i := range q.in.n {
		in = append(in, *q.in.at(i))
	}
	s := fmt.Sprintf("%v", in)
	if q.getting.n > 0 {
		s += fmt.Sprintf(" getting %d", q.getting.n)
	}
	if q.putting.n > 0 {
		s += fmt.Sprintf(" putting %d", q.putting.n)
	}
	if q.closed {
		s += " closed"
	}
	return s
}

// step runs op, and records the transitions if the queue went from one state to the other.
func (b *queueBench) step(names, from, to string, op func()) {
	b.t.Helper()
	before := b.state()
	op()
	if after := b.state(); before != from || after != to {
		b.t.Fatalf("%s: from %s to %s, want from %s to %s", names, before, after, from, to)
	}
	b.taken.take(names)
}

// A visit is a wait at one of the ends that does one step at a time.
type visit struct {
	b  *queueBench
	w  *park.Waiter
	p  *place[int]
	t  park.Token
	in *row[int]
}

func (b *queueBench) visit(in *row[int], v int) *visit {
	w := park.New(nil)
	b.q.mu.Lock()
	p := b.q.places.take(w)
	p.v = v
	in.push(p)
	b.q.mu.Unlock()
	return &visit{b, w, p, p.t, in}
}

func (b *queueBench) getting() *visit      { return b.visit(&b.q.getting, 0) }
func (b *queueBench) putting(v int) *visit { return b.visit(&b.q.putting, v) }

// ended is what comes after the wait.
func (c *visit) ended(want park.Outcome, v int) {
	c.b.t.Helper()
	o := c.w.Withdraw(c.t)
	if o != want {
		c.b.t.Fatalf("the wait ended with %v, want %v", o, want)
	}
	if o == park.Woken && c.in == &c.b.q.putting {
		return
	}
	if got := c.b.q.leave(c.p, o, c.in); got != v {
		c.b.t.Fatalf("left with %d, want %d", got, v)
	}
}

func (b *queueBench) put(v int, ok bool) func() {
	return func() {
		b.t.Helper()
		if b.q.TryPut(v) != ok {
			b.t.Fatalf("TryPut(%d): %v", v, !ok)
		}
	}
}

func (b *queueBench) get(v int, ok bool) func() {
	return func() {
		b.t.Helper()
		if got, is := b.q.TryGet(); got != v || is != ok {
			b.t.Fatalf("TryGet: %d, %v, want %d, %v", got, is, v, ok)
		}
	}
}

func TestQueueTransitions(t *testing.T) {
	taken := marks{}
	b := &queueBench{t, NewQueue[int](2), taken}
	b.step("", "[]", "[]", b.get(0, false))
	b.step("Q1", "[]", "[1]", b.put(1, true))
	b.step("Q1", "[1]", "[1 2]", b.put(2, true))
	b.step("", "[1 2]", "[1 2]", b.put(3, false))

	// Two wait to put; one of those behind them in time leaves, and one before. Places are used again.
	p3, p4, p5 := b.putting(3), b.putting(4), b.putting(5)
	b.step("Q5", "[1 2] putting 3", "[1 2] putting 2", func() { p4.ended(park.Self, 0) })
	b.step("Q2 Q4", "[1 2] putting 2", "[2 3] putting 1", b.get(1, true))
	p3.ended(park.Woken, 0)
	p5.w.Withdraw(p5.t) // canceled, and still in row
	b.step("Q2", "[2 3] putting 1", "[3]", b.get(2, true))
	b.step("Q5", "[3]", "[3]", func() { b.q.leave(p5.p, park.Canceled, p5.in) })
	b.step("Q2", "[3]", "[]", b.get(3, true))

	// Two wait to get, and a third that is canceled.
	g1, g2, g3 := b.getting(), b.getting(), b.getting()
	g1.w.Withdraw(g1.t)
	b.step("Q3", "[] getting 3", "[] getting 1", b.put(6, true))
	b.step("Q5", "[] getting 1", "[] getting 1", func() { b.q.leave(g1.p, park.Canceled, g1.in) })
	g2.ended(park.Woken, 6)

	// One is left by a panic after it was brought a value: it goes to the next, or to the front.
	b.step("Q3", "[] getting 1", "[]", b.put(7, true))
	b.step("Q7", "[]", "[7]", func() { b.q.back(b.q.leave(g3.p, g3.w.Withdraw(g3.t), g3.in)) })
	b.step("Q1", "[7]", "[7 8]", b.put(8, true))
	b.step("Q7", "[7 8]", "[6 7 8]", func() { b.q.stats.Gets++; b.q.stats.Puts++; b.q.back(6) }) // no room, and yet
	b.step("", "[6 7 8]", "[6 7 8]", b.put(9, false))
	p9 := b.putting(9)
	b.step("Q2", "[6 7 8] putting 1", "[7 8] putting 1", b.get(6, true)) // still as many as may be
	b.step("Q2 Q4", "[7 8] putting 1", "[8 9]", b.get(7, true))
	p9.ended(park.Woken, 0)

	// Closed, with some who wait to put.
	p1, p2 := b.putting(1), b.putting(2)
	b.step("Q6", "[8 9] putting 2", "[8 9] closed", b.q.Close)
	p1.ended(park.Closed, 0)
	p2.ended(park.Closed, 0)
	b.step("", "[8 9] closed", "[8 9] closed", b.put(1, false))
	b.step("Q2", "[8 9] closed", "[9] closed", b.get(8, true))
	b.step("Q7", "[9] closed", "[8 9] closed", func() { b.q.back(8) })
	b.step("Q2", "[8 9] closed", "[9] closed", b.get(8, true))
	b.step("Q2", "[9] closed", "[] closed", b.get(9, true))
	b.step("", "[] closed", "[] closed", b.get(0, false))
	b.step("", "[] closed", "[] closed", b.q.Close)

	// No room at all.
	b = &queueBench{t, new(Queue[int]), taken}
	b.step("", "[]", "[]", b.put(1, false))
	b.step("", "[]", "[]", b.get(0, false))
	p1, p2 = b.putting(1), b.putting(2)
	b.step("Q4", "[] putting 2", "[] putting 1", b.get(1, true))
	p1.ended(park.Woken, 0)
	p2.w.Withdraw(p2.t)
	b.step("", "[] putting 1", "[]", b.get(0, false))
	b.q.leave(p2.p, park.Canceled, p2.in)
	g1, g2 = b.getting(), b.getting()
	b.step("Q3", "[] getting 2", "[] getting 1", b.put(3, true))
	b.step("Q7", "[] getting 1", "[]", func() { b.q.back(b.q.leave(g1.p, g1.w.Withdraw(g1.t), g1.in)) })
	g2.ended(park.Woken, 3)
	g1, g2 = b.getting(), b.getting()
	b.step("Q6", "[] getting 2", "[] closed", b.q.Close)
	g1.ended(park.Closed, 0)
	g2.ended(park.Closed, 0)
	taken.demand(t, "queue.go", "Q")
}

// A context that panics while a value is on its way: the value is not lost, and keeps its turn.
func TestQueuePanicWithAValue(t *testing.T) {
	for _, others := range []int{0, 1} {
		q := NewQueue[int](1)
		var got []int
		var behind *park.Waiter
		var place *place[int]
		first := func() {
			if others > 0 {
				behind = park.New(nil)
				q.mu.Lock()
				place = q.places.take(behind)
				q.getting.push(place)
				q.mu.Unlock()
			}
			q.TryPut(1)
			q.TryPut(2)
		}
		func() {
			defer func() { _ = recover() }()
			_, _ = q.Get(&brittle{context.Background(), first})
		}()
		if others > 0 {
			if o := behind.Withdraw(place.t); o != park.Woken {
				t.Fatalf("who is behind: %v", o)
			}
			got = append(got, q.leave(place, park.Woken, &q.getting))
		}
		for v, ok := q.TryGet(); ok; v, ok = q.TryGet() {
			got = append(got, v)
		}
		slices.Sort(got) // with another one behind, 2 was handed to him before 1 came back
		if !slices.Equal(got, []int{1, 2}) || q.Queued() {
			t.Errorf("with %d others: %v", others, got)
		}
	}

	// In Put: the value is in, or it is not.
	for _, granted := range []bool{false, true} {
		q := NewQueue[int](1)
		q.TryPut(1)
		func() {
			defer func() { _ = recover() }()
			_ = q.Put(&brittle{context.Background(), func() {
				if granted {
					q.TryGet()
				}
			}}, 2)
		}()
		want := 1
		if granted {
			want = 2
		}
		if v, ok := q.TryGet(); v != want || !ok || q.Queued() {
			t.Errorf("granted %v: %d, %v", granted, v, ok)
		}
		if _, ok := q.TryGet(); ok {
			t.Errorf("granted %v: there is more", granted)
		}
	}
}

// A ring against a slice.
func TestRing(t *testing.T) {
	for start := range 9 { // where the head is
		var r ring[*int]
		var want []*int
		for i := range start {
			r.pushBack(new(int))
			if i%2 == 0 {
				r.popFront()
			} else {
				r.popBack()
			}
		}
		for i := range 40 {
			v := new(int)
			switch i % 5 {
			case 0, 1, 3:
				r.pushBack(v)
				want = append(want, v)
			case 2:
				r.pushFront(v)
				want = slices.Insert(want, 0, v)
			case 4:
				if got := r.popFront(); got != want[0] {
					t.Fatal("the wrong first one")
				}
				want = want[1:]
			}
			for i := range want {
				if *r.at(i) != want[i] {
					t.Fatalf("value %d is wrong", i)
				}
			}
		}
		for len(want) > 0 {
			if got := r.popBack(); got != want[len(want)-1] {
				t.Fatal("the wrong last one")
			}
			want = want[:len(want)-1]
		}
		if r.n != 0 {
			t.Fatalf("%d are left", r.n)
		}
		for _, v := range r.buf {
			if v != nil {
				t.Fatal("an empty ring keeps something reachable")
			}
		}
	}
}

// Places are used again, and keep nothing reachable meanwhile.
func TestStock(t *testing.T) {
	var s stock[*int]
	var l row[*int]
	var ps []*place[*int]
	var ws []*park.Waiter
	for range 3 {
		w := park.New(nil)
		p := s.take(w)
		p.v = new(int)
		l.push(p)
		ps, ws = append(ps, p), append(ws, w)
	}
	for i, p := range ps {
		ws[i].Withdraw(p.t)
		l.remove(p)
		l.remove(p) // is not counted twice
		s.give(p)
		if p.v != nil || p.w != nil {
			t.Error("a place in stock keeps something reachable")
		}
	}
	if l.n != 0 || l.pop() != nil || l.resolve(park.Woken) != nil {
		t.Error("somebody is left")
	}
	for range 3 {
		w := park.New(nil)
		if p := s.take(w); !slices.Contains(ps, p) {
			t.Error("a new place, though there are some in stock")
		} else {
			w.Withdraw(p.t)
		}
	}
}

// What comes between the first look and the wait is seen by the second one.
func TestQueueLooksTwice(t *testing.T) {
	bg := context.Background()
	q := NewQueue[int](1)
	if err := q.putWaiting(bg, 1); err != nil {
		t.Errorf("Put, and there is room: %v", err)
	}
	if v, err := q.getWaiting(bg); v != 1 || err != nil {
		t.Errorf("Get, and something is in: %d, %v", v, err)
	}
	q.TryPut(2)
	b := &queueBench{t: t, q: q}
	p := b.putting(3)
	if v, err := q.getWaiting(bg); v != 2 || err != nil {
		t.Errorf("Get, and somebody waits to put: %d, %v", v, err)
	}
	p.ended(park.Woken, 0)
	b.get(3, true)()
	g := b.getting()
	if err := q.putWaiting(bg, 4); err != nil {
		t.Errorf("Put, and somebody waits to get: %v", err)
	}
	g.ended(park.Woken, 4)
	q.Close()
	if err := q.putWaiting(bg, 5); err != ErrClosed {
		t.Errorf("Put, closed: %v", err)
	}
	if _, err := q.getWaiting(bg); err != ErrClosed {
		t.Errorf("Get, closed: %v", err)
	}
	if q.Queued() || q.Stats().Waits != 0 {
		t.Errorf("%+v", q.Stats())
	}
}

// A context that panics while nothing has come: the waiter is out.
func TestQueuePanicLeavesTheRow(t *testing.T) {
	q := NewQueue[int](0)
	for _, call := range []func(ctx context.Context){
		func(ctx context.Context) { _, _ = q.Get(ctx) },
		func(ctx context.Context) { _ = q.Put(ctx, 1) },
	} {
		func() {
			defer func() { _ = recover() }()
			call(&brittle{context.Background(), func() {}})
		}()
		if s := q.Stats(); s.Getting+s.Putting != 0 || s.Failed != s.Waits {
			t.Errorf("%+v", s)
		}
	}
}
