package park

import (
	"context"
	"hash/maphash"
	"sync"
	"sync/atomic"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/ilist"
	"bide.invalid/bide/internal/step"
)

// A Lot is a table of waiters by key: for those who wait for one thing of many, where the things have no room for a
// queue each. A primitive of one word parks in a lot under the word's address, as it would with a futex. The zero Lot is
// ready; it has 1 KB, and is not to be copied once used. It belongs to whoever owns what is waited for. A primitive that
// has one queue embeds a [List].
//
// A key is any comparable value, one that is not panics; keys are equal as with ==. One lot may have keys of several
// types, such as a lock and the condition that belongs to it. A pointer is the usual key and allocates nothing; other
// values are copied to the heap when they become an any.
//
// Who waits for a key does so in the order of arrival. Two keys have the same lock one time in sixteen, and finding a
// key costs the same however many others are waited for; Wake and Requeue of n waiters take n steps under the lock,
// leaving takes one. To park and to be woken allocates nothing once the pools are warm. When nobody waits for a key,
// nothing is left of it.
//
// # The functions that a Lot calls
//
// They are called once, on the caller's goroutine, with the key's lock held: what they look at and change is one step
// with what the lot does, for all calls with that key. They must not block, nor call the lot. If one panics, nothing
// stays locked: a validate has then said no, and a Wake has woken.
//
// # Memory model
//
// Calls for one key are in one order. What one does in its function happened before the functions of those behind it,
// and what a Wake did, before the return of the Parks that it ends.
type Lot struct {
	_       noCopy
	buckets [1 << bucketBits]bucket
}

const bucketBits = 4

// The seat of a waiter in a Lot.
//
//	out     line nil
//	filed   in line, which is in the bucket at; under the key
//
//	L1 out → filed      Park, if validate agrees: armed in the same section
//	L2 filed → out      Wake, which has resolved it
//	L3 filed → out      Wake and Requeue, where they meet one that somebody else has resolved
//	L4 filed → out      the owner, for the same reason
//	L5 filed → filed    Requeue, with both buckets locked
//
//	I1 key and line are guarded by the lock of the bucket at, which is read before that is locked, and again behind it
//	I2 a line in the table is not empty, and n is its length; the key is that of its first
//	I3 one that is filed has its token resolved by others only: the host, or the deadline
type seat struct {
	key  any
	line *line
	at   atomic.Pointer[bucket]
}

// A bucket is a hash table of lines. It grows, and shrinks when it is empty.
type bucket struct {
	mu    step.Mutex // before a timer shard's
	slots []*line    // a power of two; nil: none yet, or none any more
	n     int        // lines in it
	few   [2]*line   // the first slots
	_     [8]byte    // 64 bytes
}

// A line is who waits for one key. Lines are pooled.
type line struct {
	list ilist.List[Node, *Node]
	n    int
	hash uint64
	next *line // in its slot
}

var (
	lines = sync.Pool{New: func() any { return new(line) }}
	seed  = maphash.MakeSeed()
)

// Park files the caller under key, if validate reports true, and waits: until a Wake of the key, or deadline, an instant
// of the monotonic clock, or the end of ctx. validate is the look at the state that the wait is for; nil waits
// whatever it is.
//
// The outcome is Self if validate reported false, and nothing was filed; that of the Wake; or Expired or Canceled, and
// then nothing is left in the lot, and no Wake has counted it. As with [Waiter.Wait] the caller has looked at ctx
// before ([Err]), and in return for Canceled has [Reason].
//
// If ctx panics in it, a wake-up that was on its way goes to the next who waits for the key, and is dropped if there is
// none: it should say "look again". What is handed over must not be lost; for that there is [List].
func (l *Lot) Park(ctx context.Context, key any, deadline clock.Instant, k Kind, validate func() bool) Outcome {
	w := GetUntil(deadline)
	t, ok := l.file(w, key, deadline, validate)
	if !ok {
		Put(w)
		return Self
	}
	o := l.wait(ctx, w, t, k)
	w.seat.key = nil
	Put(w) // not deferred: see there
	return o
}

// Wake ends the wait of the first n who wait for key, with the outcome o, and reports of how many it has. Those that
// were canceled or have expired do not count. locked, if not nil, is told how many, and how many are left in the line; a
// canceled one is, until it has taken itself out. Nobody has been woken yet. Wake of 0 asks for their number.
func (l *Lot) Wake(key any, n int, o Outcome, locked func(woken, left int)) (woken int) {
	o.mustEnd("Wake")
	b, h := l.find(key)
	var batch Batch
	defer batch.Unpark() // also if locked panics
	step.At("lot.wake")
	b.mu.Lock()
	defer b.mu.Unlock()
	left := 0
	if q := b.line(h, key); q != nil {
		left = q.n
		for ; woken < n && left > 0; left-- {
			node := b.pop(q)               // L3, if not L2
			if node.w.Resolve(node.t, o) { // L2
				batch.add(node)
				woken++
			}
		}
	}
	if locked != nil {
		locked(woken, left)
	}
	return woken
}

// Requeue moves the first n who wait for from to the end of those who wait for to, in their order, and wakes nobody. It
// reports how many. Before, it asks validate, if not nil, with the locks of both keys held: if that reports false
// nothing is moved.
func (l *Lot) Requeue(from, to any, n int, validate func() bool) (moved int) {
	a, ha := l.find(from)
	b, hb := l.find(to)
	if from == to {
		panic("bide/park: Requeue from a key to itself")
	}
	step.At("lot.requeue")
	l.lock(a, b)
	defer unlock(a, b)
	if validate != nil && !validate() {
		return 0
	}
	q := a.line(ha, from)
	if q == nil {
		return 0
	}
	for left := q.n; moved < n && left > 0; left-- {
		node := a.pop(q) // L3, if not L5
		if t, armed := node.w.word.current(); armed && t == node.t {
			step.At("lot.move")  // it may be canceled now, and then leaves
			b.push(hb, to, node) // L5
			moved++
		}
	}
	return moved
}

// file: L1, if validate agrees.
func (l *Lot) file(w *Waiter, key any, deadline clock.Instant, validate func() bool) (t Token, ok bool) {
	b, h := l.find(key)
	step.At("lot.file")
	b.mu.Lock()
	defer b.mu.Unlock()
	if validate != nil && !validate() {
		return t, false
	}
	t = w.Arm(deadline)
	n := &w.node[0]
	n.w, n.t = w, t
	b.push(h, key, n) // L1
	return t, true
}

// wait is w.Wait, and takes w out if nobody else has. If ctx panics in it, what the waiter was given goes on.
func (l *Lot) wait(ctx context.Context, w *Waiter, t Token, k Kind) (o Outcome) {
	returned := false
	defer func() {
		if !returned {
			o = w.Withdraw(t)
		}
		switch {
		case o == Self || o == Expired || o == Canceled:
			l.leave(w)
		case !returned:
			l.Wake(w.seat.key, 1, o, nil)
		}
	}()
	o = w.Wait(ctx, t, k)
	returned = true
	return o
}

// leave takes w out, unless whoever met it has.
func (l *Lot) leave(w *Waiter) {
	for {
		b := w.seat.at.Load()
		step.At("lot.leave")
		b.mu.Lock()
		if w.seat.at.Load() != b { // moved meanwhile
			b.mu.Unlock()
			continue
		}
		if w.seat.line != nil {
			b.remove(&w.node[0]) // L4
		}
		b.mu.Unlock()
		return
	}
}

// find is the bucket of key, and its hash.
func (l *Lot) find(key any) (b *bucket, hash uint64) {
	hash = maphash.Comparable(seed, key)
	return &l.buckets[hash>>(64-bucketBits)], hash
}

// lock locks two buckets, which may be one, the first in the lot before the other.
func (l *Lot) lock(a, b *bucket) {
	for i := range l.buckets {
		if c := &l.buckets[i]; c == a || c == b {
			c.mu.Lock()
		}
	}
}

func unlock(a, b *bucket) {
	a.mu.Unlock()
	if a != b {
		b.mu.Unlock()
	}
}

// line is who waits for key, or nil.
//
// Preconditions of this and of what follows: b is locked.
func (b *bucket) line(hash uint64, key any) *line {
	for q := *b.slot(hash); q != nil; q = q.next {
		if q.hash == hash && q.list.Front().w.seat.key == key {
			return q
		}
	}
	return nil
}

// slot is where lines of that hash hang.
func (b *bucket) slot(hash uint64) **line {
	if b.slots == nil {
		b.slots = b.few[:]
	}
	return &b.slots[hash&uint64(len(b.slots)-1)]
}

// push files n under key, as the last.
func (b *bucket) push(hash uint64, key any, n *Node) {
	q := b.line(hash, key)
	if q == nil {
		q = lines.Get().(*line)
		q.hash = hash
		b.add(q)
	}
	q.list.PushBack(n)
	q.n++
	s := &n.w.seat
	s.key, s.line = key, q
	s.at.Store(b)
}

// pop takes the first of q out.
func (b *bucket) pop(q *line) *Node {
	n := q.list.Front()
	b.remove(n)
	return n
}

// remove takes n out, and with the last of a line the line.
func (b *bucket) remove(n *Node) {
	q := n.w.seat.line
	n.w.seat.line = nil
	q.list.Remove(n)
	if q.n--; q.n == 0 {
		b.drop(q)
	}
}

// add hangs up q, which has nobody in it yet.
func (b *bucket) add(q *line) {
	if b.n >= 2*len(b.slots) && b.n > 0 {
		old := b.slots
		b.slots = make([]*line, 2*len(old))
		for i, p := range old {
			for p != nil {
				next, s := p.next, b.slot(p.hash)
				p.next, *s = *s, p
				p = next
			}
			old[i] = nil
		}
	}
	s := b.slot(q.hash)
	q.next, *s = *s, q
	b.n++
}

// drop takes q out, which has nobody in it any more.
func (b *bucket) drop(q *line) {
	s := b.slot(q.hash)
	for *s != q {
		s = &(*s).next
	}
	*s = q.next
	if b.n--; b.n == 0 {
		b.slots = nil
	}
	*q = line{}
	lines.Put(q)
}
