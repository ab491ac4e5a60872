package timer

import (
	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/invariant"
	"bide.invalid/bide/internal/step"
)

// A node is what a [Timer] has in the service while it is armed or its function runs. Nodes come from chunks that the
// shard keeps, and go back to its free ones: the collector walks a table instead of one long list, and a program that
// starts and stops timers all day allocates their handles only. A timer of a bubble has a node of its own.
//
// States, all under the shard's lock:
//
//	free     gen is odd; in shard.free
//	armed    linked, or popped by a driver that has not claimed it yet
//	running  running > 0 calls of fn are under way; may be armed as well
//
//	N1 free → armed       AfterFunc, Every, Reset: gen + 1
//	N2 armed → armed      Reset: due moves, linked again
//	N3 armed → free       Stop, none running: gen + 1, fn dropped
//	N4 armed → running    Fire, the claim, just before the call: only if due has still come
//	N5 running → armed    a periodic timer that was not stopped; or Reset meanwhile, which for a periodic timer is
//	                      claimed only after the call has ended
//	N6 running → free     the last call ended, and nothing armed it
//
// The claim is made at the call, not when the entry is popped: a callback that stops a timer behind it in the driver's
// buffer prevents it. A driver that popped a node which has since been given to another timer claims that one if it is
// due, and nothing otherwise.
type node struct {
	e       Entry
	sh      *shard
	gen     uint64
	due     clock.Instant
	fn      func()
	every   *periodic // nil: once
	running int32
	armed   bool
	inline  bool
	slack   slack
	idle    chan struct{} // made by StopWait, closed when running falls to 0
}

// chunk sizes: the first is small, for programs that have three timers; from 4096 on the collector is indifferent.
const (
	firstChunk = 64
	lastChunk  = 4096
)

// take returns a node for a timer, armed by nobody yet.
//
// Preconditions: mu held.
func (sh *shard) take() *node {
	if sh.bubble {
		n := &node{sh: sh, gen: 1}
		n.gen++
		n.e.n.Tag = sh.id
		n.e.Init(n)
		return n
	}
	if len(sh.free) == 0 {
		sh.grow()
	}
	n := sh.free[len(sh.free)-1]
	sh.free = sh.free[:len(sh.free)-1]
	n.gen++ // N1
	return n
}

// grow makes a chunk of nodes. Preconditions: mu held.
func (sh *shard) grow() {
	size := firstChunk
	if k := len(sh.chunks); k > 0 {
		size = min(lastChunk, 4*len(sh.chunks[k-1]))
	}
	chunk := make([]node, size)
	sh.chunks = append(sh.chunks, chunk)
	for i := range chunk {
		n := &chunk[i]
		n.sh, n.gen, n.e.n.Tag = sh, 1, sh.id
		n.e.Init(n)
		sh.free = append(sh.free, n)
	}
}

// release gives n back, unless it is in use: N3, N6.
//
// Preconditions: mu held.
func (sh *shard) release(n *node) {
	if n.armed || n.running > 0 {
		return
	}
	invariant.True(n.e.n.At() == 0, "timer: a free node is linked")
	n.gen++
	n.fn = nil
	if n.every != nil { // few have one, and clearing a pointer that is nil costs while the collector marks
		n.every = nil
	}
	if !sh.bubble {
		sh.free = append(sh.free, n)
	}
}

// arm sets the deadline. Preconditions: mu held.
func (sh *shard) arm(n *node, due clock.Instant) {
	n.due, n.armed = due, true
	if due == clock.Forever {
		sh.remove(&n.e)
		sh.rest()
		return
	}
	sh.move(&n.e, n.look())
}

// look is when the node is to be looked at: its deadline, and what is tolerated.
func (n *node) look() clock.Instant { return n.slack.round(n.due) }

// Due: locked.
func (n *node) Due(now clock.Instant) (again clock.Instant, fired bool) {
	switch {
	case !n.armed:
		return clock.Forever, false
	case n.look() > now:
		return n.look(), false
	}
	return clock.Forever, true
}

// Fire: not locked.
func (n *node) Fire(now clock.Instant) {
	sh := n.sh
	step.At("timer.claim")
	sh.mu.Lock()
	if !n.armed || n.due > now || n.every != nil && n.running > 0 { // calls do not overlap: ended files it again
		sh.mu.Unlock()
		return
	}
	sh.remove(&n.e) // it may have been armed anew, for an instant that has come as well
	n.armed = false // N4
	n.running++
	inline, fn := n.inline, n.fn
	var tick func(clock.Instant, int)
	var at clock.Instant
	var missed int
	if n.every != nil {
		tick = n.every.f
		at, missed = n.every.claim(n.due, now)
	}
	sh.mu.Unlock()
	if inline {
		n.run(fn, tick, at, missed)
	} else {
		go n.run(fn, tick, at, missed)
	}
}

// run calls the function. StopWait from within it is recognized by this frame: see onStack.
func (n *node) run(fn func(), tick func(clock.Instant, int), at clock.Instant, missed int) {
	defer n.ended() // also if it calls runtime.Goexit
	if fn != nil {
		fn()
	} else {
		tick(at, missed)
	}
}

// ended: N5, N6.
func (n *node) ended() {
	sh := n.sh
	step.At("timer.ended")
	sh.mu.Lock()
	defer sh.mu.Unlock()
	n.running--
	if n.every != nil && !n.every.stopped {
		switch {
		case !n.armed:
			sh.arm(n, n.every.next(sh.s.clock.Now()))
		case n.e.n.At() == 0: // Reset meanwhile, and due since
			sh.arm(n, n.due)
		}
	}
	if n.running == 0 {
		if n.idle != nil {
			close(n.idle)
			n.idle = nil
		}
		sh.release(n)
	}
}
