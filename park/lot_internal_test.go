package park

import (
	"context"
	"fmt"
	"hash/maphash"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/invariant"
	"bide.invalid/bide/internal/stress"
)

// check holds the table to I1 and I2, and reports who is filed, line by line.
func (b *bucket) check(t *testing.T) (filed map[any][]*Waiter) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	filed = map[any][]*Waiter{}
	found := 0
	for i, q := range b.slots {
		for ; q != nil; q = q.next {
			found++
			if q.hash&uint64(len(b.slots)-1) != uint64(i) {
				t.Fatalf("a line of hash %#x in slot %d of %d", q.hash, i, len(b.slots))
			}
			if q.list.Empty() || q.n < 1 {
				t.Fatal("I2: an empty line")
			}
			n, key := 0, q.list.Front().w.seat.key
			for e := q.list.Front(); e != nil; e = q.list.Next(e) {
				n++
				if s := &e.w.seat; s.line != q || s.at.Load() != b || s.key != key {
					t.Fatalf("I1: filed under %v, the seat says %v", key, s.key)
				}
				filed[key] = append(filed[key], e.w)
			}
			if n != q.n {
				t.Fatalf("I2: a line of %d counts %d", n, q.n)
			}
		}
	}
	if found != b.n {
		t.Fatalf("%d lines, counted %d", found, b.n)
	}
	if b.n == 0 && b.slots != nil && &b.slots[0] != &b.few[0] {
		t.Fatal("an empty bucket keeps its slots")
	}
	if b.n > 2*len(b.slots) {
		t.Fatalf("%d lines in %d slots", b.n, len(b.slots))
	}
	return filed
}

func (l *Lot) check(t *testing.T) (filed map[any][]*Waiter) {
	t.Helper()
	filed = map[any][]*Waiter{}
	for i := range l.buckets {
		for k, ws := range l.buckets[i].check(t) {
			filed[k] = append(filed[k], ws...)
		}
	}
	return filed
}

func (w *Waiter) filed() bool { return w.seat.line != nil }

func TestLotTransitions(t *testing.T) {
	taken := marks{}
	// step runs one operation, and records name if it took w from under one key to the other; nil: out.
	var l Lot
	step := func(name string, w *Waiter, from, to any, op func()) {
		t.Helper()
		where := func() any {
			for k, ws := range l.check(t) {
				if slices.Contains(ws, w) {
					return k
				}
			}
			return nil
		}
		if got := where(); got != from {
			t.Errorf("%s: filed under %v, want %v", name, got, from)
		}
		op()
		if got := where(); got != to || w.filed() != (to != nil) {
			t.Errorf("%s: filed under %v, want %v; %v", name, got, to, w.filed())
			return
		}
		taken[name] = true
	}
	w := New(nil)
	var tok Token
	file := func(ok bool) func() {
		return func() {
			if tok, ok = l.file(w, "a", clock.Forever, func() bool { return ok }); !ok {
				if _, armed := w.word.current(); armed {
					t.Error("armed, though validate says no")
				}
			}
		}
	}
	step("refused", w, nil, nil, file(false))
	step("L1", w, nil, "a", file(true))
	step("L2", w, "a", nil, func() { l.Wake("a", 1, Woken, nil) })
	w.Withdraw(tok)

	step("L1", w, nil, "a", file(true))
	w.Withdraw(tok)
	step("L3", w, "a", nil, func() { l.Wake("a", 1, Woken, nil) })
	step("left twice", w, nil, nil, func() { l.leave(w) })

	step("L1", w, nil, "a", file(true))
	w.Withdraw(tok)
	step("L3 Requeue", w, "a", nil, func() { l.Requeue("a", "b", 1, nil) })

	step("L1", w, nil, "a", file(true))
	w.Withdraw(tok)
	step("L4", w, "a", nil, func() { l.leave(w) })

	step("L1", w, nil, "a", file(true))
	step("L5", w, "a", "b", func() { l.Requeue("a", "b", 1, nil) })
	w.Withdraw(tok)
	step("L4 moved", w, "b", nil, func() { l.leave(w) })

	taken.demand(t, "lot.go", "L", "refused", "left twice", "L3 Requeue", "L4 moved")
	if w.node[0].links.In() {
		t.Error("still queued")
	}
}

// A reference: who is filed under each key, in order, and who of all is dead.
type lotModel struct {
	filed map[any][]int
	dead  map[int]bool
}

func (m *lotModel) where(i int) any {
	for k, is := range m.filed {
		if slices.Contains(is, i) {
			return k
		}
	}
	return nil
}

func (m *lotModel) set(k any, is []int) {
	if m.filed[k] = is; len(is) == 0 {
		delete(m.filed, k)
	}
}

func (m *lotModel) remove(i int) {
	if k := m.where(i); k != nil {
		m.set(k, slices.DeleteFunc(slices.Clone(m.filed[k]), func(j int) bool { return i == j }))
	}
}

// take takes out until n were alive, and returns those.
func (m *lotModel) take(k any, n int) (alive []int) {
	is := m.filed[k]
	for len(is) > 0 && len(alive) < n {
		if !m.dead[is[0]] {
			alive = append(alive, is[0])
		}
		is = is[1:]
	}
	m.set(k, is)
	return alive
}

// A lotRun is a lot, whose waiters are driven by one goroutine, and the reference beside it.
type lotRun struct {
	t    *testing.T
	l    Lot
	m    lotModel
	ws   []*Waiter
	toks []Token
}

func newLotRun(t *testing.T, waiters int) *lotRun {
	r := &lotRun{t: t, m: lotModel{map[any][]int{}, map[int]bool{}}, toks: make([]Token, waiters)}
	for range waiters {
		r.ws = append(r.ws, New(nil))
	}
	return r
}

// file files i, if it is out.
func (r *lotRun) file(i int, key any) {
	if r.m.where(i) == nil {
		r.receive()
		r.toks[i], _ = r.l.file(r.ws[i], key, clock.Forever, nil)
		r.m.set(key, append(r.m.filed[key], i))
		r.m.dead[i] = false
	}
}

// kill is what a host does.
func (r *lotRun) kill(i int) {
	r.m.dead[i] = r.m.where(i) != nil
	r.ws[i].Wake(r.toks[i], Canceled)
}

// leave is what one does who has been killed.
func (r *lotRun) leave(i int) {
	if r.m.where(i) != nil && r.m.dead[i] {
		r.ws[i].Withdraw(r.toks[i])
		r.l.leave(r.ws[i])
		r.m.remove(i)
	}
}

func (r *lotRun) wake(key any, n int) {
	alive := r.m.take(key, n)
	got := r.l.Wake(key, n, User, func(woken, left int) {
		if woken != len(alive) || left != len(r.m.filed[key]) {
			r.t.Fatalf("Wake of %d: %d woken and %d left, want %d and %d", n, woken, left, len(alive), len(r.m.filed[key]))
		}
	})
	if got != len(alive) {
		r.t.Fatalf("Wake of %d: %d, want %d", n, got, len(alive))
	}
	for _, i := range alive {
		if o := r.ws[i].Withdraw(r.toks[i]); o != User {
			r.t.Fatalf("waiter %d ended with %v", i, o)
		}
	}
}

func (r *lotRun) requeue(from, to any, n int) {
	alive := r.m.take(from, n)
	r.m.set(to, append(slices.Clip(r.m.filed[to]), alive...))
	if got := r.l.Requeue(from, to, n, nil); got != len(alive) {
		r.t.Fatalf("Requeue of %d: %d, want %d", n, got, len(alive))
	}
}

// receive takes the wake-up of those that were killed and then taken out by others.
func (r *lotRun) receive() {
	for i, w := range r.ws {
		if r.m.where(i) == nil && len(w.ch) > 0 {
			w.Withdraw(r.toks[i])
		}
	}
}

func (r *lotRun) check() {
	r.receive()
	filed := r.l.check(r.t)
	for k, is := range r.m.filed {
		var want []*Waiter
		for _, i := range is {
			want = append(want, r.ws[i])
		}
		if !slices.Equal(filed[k], want) {
			r.t.Fatalf("under %v: %d waiters, want %v", k, len(filed[k]), is)
		}
	}
	if len(filed) != len(r.m.filed) {
		r.t.Fatalf("%d keys, want %d", len(filed), len(r.m.filed))
	}
}

// Every sequence of a few operations on two keys and three waiters.
func TestLotSmallCases(t *testing.T) {
	ops := []func(r *lotRun){
		func(r *lotRun) { r.wake("a", 1) },
		func(r *lotRun) { r.wake("a", All) },
		func(r *lotRun) { r.wake("b", 2) },
		func(r *lotRun) { r.requeue("a", "b", 1) },
		func(r *lotRun) { r.requeue("b", "a", All) },
	}
	for i := range 3 {
		ops = append(ops,
			func(r *lotRun) { r.file(i, "a") },
			func(r *lotRun) { r.kill(i) },
			func(r *lotRun) { r.leave(i) })
	}
	ops = append(ops, func(r *lotRun) { r.file(0, "b") })
	depth := 4
	if testing.Short() || invariant.On {
		depth = 3
	}
	total := 1
	for range depth {
		total *= len(ops)
	}
	for seq := range total {
		r := newLotRun(t, 3)
		r.file(0, "a") // else most of the short ones do nothing
		r.file(1, "a")
		for s, d := seq, depth; d > 0; s, d = s/len(ops), d-1 {
			ops[s%len(ops)](r)
			if d == 1 {
				r.check()
			}
		}
	}
}

// Long random ones, on many keys, so that buckets grow and shrink.
func TestLotModel(t *testing.T) {
	rnd := stress.Source(t)(0)
	steps := 20_000
	if testing.Short() || invariant.On {
		steps /= 10
	}
	for _, c := range []struct{ keys, waiters int }{{2, 10}, {20, 20}, {1000, 300}} {
		r := newLotRun(t, c.waiters)
		key := func() any { return rnd.IntN(c.keys) }
		for i := range steps {
			switch n := rnd.IntN(4); rnd.IntN(8) {
			default:
				r.file(rnd.IntN(c.waiters), key())
			case 0:
				r.kill(rnd.IntN(c.waiters))
			case 1:
				r.leave(rnd.IntN(c.waiters))
			case 2:
				r.wake(key(), n)
			case 3:
				if from, to := key(), key(); from != to {
					r.requeue(from, to, n)
				}
			case 4:
				if rnd.IntN(100) == 0 {
					for k := range c.keys {
						r.wake(k, All)
					}
				}
			}
			if i%500 == 0 {
				r.check()
			}
		}
		for k := range c.keys {
			r.wake(k, All)
		}
		r.check()
		for i := range r.l.buckets {
			if b := &r.l.buckets[i]; len(b.slots) > len(b.few) || b.few != [2]*line{} || b.n != 0 {
				t.Errorf("bucket %d keeps something when nobody waits: %+v", i, b)
			}
		}
	}
}

// Keys of one hash are told apart: in their slot, when the bucket grows, and when they leave it in any order.
func TestLotSameHash(t *testing.T) {
	for _, hashes := range []uint64{1, 2, 3} {
		var b bucket
		const n = 20
		ws := make([]*Waiter, n)
		for i := range ws {
			ws[i] = New(nil)
			ws[i].node[0].w = ws[i]
			b.mu.Lock()
			b.push(uint64(i)%hashes, i, &ws[i].node[0])
			b.mu.Unlock()
			b.check(t)
		}
		for i := range ws {
			i = (i*7 + 5) % n
			b.mu.Lock()
			q := b.line(uint64(i)%hashes, i)
			if q == nil || b.line(uint64(i)%hashes, i+n) != nil || b.pop(q).w != ws[i] {
				t.Errorf("key %d was not found, or another was", i)
			}
			b.mu.Unlock()
			b.check(t)
		}
		if b.n != 0 || b.slots != nil {
			t.Error("something is left")
		}
	}
}

// A bucket is a cache line, where pointers have 64 bits.
func TestLotSize(t *testing.T) {
	if size := reflect.TypeFor[bucket]().Size(); size > 64 {
		t.Errorf("a bucket has %d bytes", size)
	}
	if size := reflect.TypeFor[Lot]().Size(); size > 1<<10 {
		t.Errorf("a Lot has %d bytes", size)
	}
}

// LotKeys are two keys, of one bucket or of two. Which they are is different in each process.
func LotKeys(together bool) (x, y string) {
	var l Lot
	x = "x"
	b, _ := l.find(x)
	for i := 0; ; i++ {
		y = fmt.Sprint("y", i)
		if c, _ := l.find(y); (b == c) == together {
			return x, y
		}
	}
}

// Keys are spread over the buckets.
func TestLotSpreads(t *testing.T) {
	var l Lot
	var count [len(l.buckets)]int
	const keys = 1600
	words := make([]uint32, keys)
	for i := range words {
		b, h := l.find(&words[i])
		for j := range l.buckets {
			if b == &l.buckets[j] {
				count[j]++
			}
		}
		if h != maphash.Comparable(seed, any(&words[i])) {
			t.Fatal("another hash")
		}
	}
	for j, n := range count {
		if n < keys/len(count)/3 || n > keys/len(count)*3 {
			t.Errorf("%d of %d keys in bucket %d of %d", n, keys, j, len(count))
		}
	}
}

// A waiter of the pool keeps nothing of the last wait: not its key, either.
func TestLotForgetsBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // so that it is New that makes it
		var l Lot
		var w *Waiter
		go l.Park(context.Background(), "a", clock.Forever, 0, nil)
		synctest.Wait()
		for _, ws := range l.check(t) {
			w = ws[0]
		}
		l.Wake("a", 1, Woken, nil)
		synctest.Wait()
		if w.seat.key != nil || w.filed() || w.node[0].next != nil {
			t.Errorf("the waiter keeps %+v", fmt.Sprint(w.seat.key))
		}
	})
}
