package bide

import (
	"context"
	"runtime/debug"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/step"
	"bide.invalid/bide/park"
)

// One of the living of a nursery.
const (
	aChild   uint64 = 1
	theBody  uint64 = 1 << 31
	aService uint64 = 1 << 32
)

// enter counts one of the living: from now on the nursery does not end without it. It panics if the nursery has ended.
func (n *Nursery) enter(call string, who uint64) {
	for {
		step.At("nursery.enter")
		alive := n.alive.Load()
		if alive == 0 {
			panic("bide: " + call + " on a nursery that has ended" + n.scope.quoted())
		}
		step.At("nursery.entered")
		if n.alive.CompareAndSwap(alive, alive+who) {
			return
		}
	}
}

// admit counts a child, which is to run f.
func (n *Nursery) admit(c *call, f func(context.Context) error) {
	if f == nil {
		panic("bide: " + c.name + ": nil function")
	}
	n.enter(c.name, aChild)
}

// start begins a child that is counted, and has its slot. If an option is wrong, it is and has neither any more.
func (n *Nursery) start(c *call, f func(context.Context) error, opts []Option) {
	if len(opts) == 0 {
		go n.child(f)
	} else {
		n.startScoped(c, f, opts)
	}
}

// startScoped is the part of start that few children need; without it start is inlined.
func (n *Nursery) startScoped(c *call, f func(context.Context) error, opts []Option) {
	started := false
	defer func() {
		if !started {
			n.leave(nil, "")
		}
	}()
	s := newScope(opts)
	s.open(c, &n.scope.Scope, opts)
	s.setHere(3)
	started = true
	go n.scoped(f, s)
}

// slot takes a slot for a child, unless the limit is reached. Preconditions: mu held, and there is a limit.
func (n *Nursery) slot() bool {
	if int(n.slots) == n.limit {
		return false
	}
	n.slots++
	return true
}

// await takes a slot for a child that was counted, and waits for one if the limit is reached. The error is that of ctx,
// and the child is counted off then. Preconditions: there is a limit.
func (n *Nursery) await(ctx context.Context) error {
	n.mu.Lock()
	if n.slot() {
		n.mu.Unlock()
		return nil
	}
	w := park.Get()
	node := &w.Nodes(1)[0]
	t := w.Arm(clock.Forever)
	n.queue.PushBack(node, w, t, park.Woken)
	n.mu.Unlock()
	returned := false
	defer func() {
		if returned {
			return
		}
		if w.Withdraw(t) == park.Woken { // a method of ctx has panicked
			n.release()
		} else {
			n.unqueue(node)
		}
		n.count(aChild)
	}()
	o := w.Wait(ctx, t, park.KindNursery)
	returned = true
	if o == park.Woken {
		park.Put(w)
		return nil // the slot is that of the child that has ended
	}
	n.unqueue(node)
	park.Put(w)
	n.count(aChild)
	return park.Reason(ctx)
}

func (n *Nursery) unqueue(node *park.Node) {
	n.mu.Lock()
	n.queue.Remove(node)
	n.mu.Unlock()
}

// child runs f in the nursery's scope. What most children have is short: they have no scope of their own, and succeed.
func (n *Nursery) child(f func(context.Context) error) {
	err := ErrGoexit
	defer func() {
		if err == nil { // then f has returned: there is no panic to look for, and nothing to file
			n.release()
			n.count(aChild)
			return
		}
		if v := recover(); v != nil {
			err = n.caught(v)
		}
		n.leave(err, "")
	}()
	n.scope.wear() // the goroutine has those of whoever has called Go
	err = f(&n.scope.Scope)
}

// scoped runs f in s, for a child that has options.
func (n *Nursery) scoped(f func(context.Context) error, s *Scope) {
	err, name := ErrGoexit, ""
	defer func() {
		if v := recover(); v != nil {
			err = n.caught(v)
		}
		n.leave(err, name)
	}()
	n.scope.wear() // the goroutine has those of whoever has called Go
	name = s.Name()
	err = s.run(f)
}

// leave is the end of a child.
func (n *Nursery) leave(err error, name string) {
	defer n.count(aChild) // also if a method of err panics
	defer n.release()     // who gets the slot finds the nursery canceled, if err does that
	n.file(err, BySibling, name)
}

// service runs f, in s if it has options, else in the scope that services share.
func (n *Nursery) service(f func(context.Context) error, s *Scope) {
	err, name := ErrGoexit, ""
	defer func() {
		if v := recover(); v != nil {
			err = n.caught(v)
		}
		defer n.count(aService)
		if firstLeaf(err) != nil && n.services.look(true) {
			err, _ = split(err, (*Canceled).made) // it was told to end
		}
		n.file(err, BySibling, name)
	}()
	n.services.wear()
	if s == nil {
		err = f(n.services)
		return
	}
	name = s.Name()
	err = s.run(f)
}

// caught is told what a child has panicked with. By default that ends the process here, with the stack of the child still
// in place. (It is not handed to WithNursery's caller: that would hide it until every sibling has ended; see
// golang/go#53757.) With Repanic it is kept for WithNursery, and cancels the siblings.
func (n *Nursery) caught(v any) error {
	if !n.repanic {
		panic(v)
	}
	e := &PanicError{v, debug.Stack()}
	n.mu.Lock()
	if r := n.result(); r.panicked == nil {
		r.panicked = e
	}
	n.mu.Unlock()
	n.scope.end(BySibling, e)
	return nil
}

// file keeps what a child, or the body, has returned. A real error cancels the nursery; while that is canceled, what is
// a cancellation in err is not real.
func (n *Nursery) file(err error, source Source, name string) {
	if err == nil {
		return
	}
	leaf := firstLeaf(err)
	if leaf != nil && n.scope.look(true) {
		err, _ = split(err, (*Canceled).made)
	} else {
		leaf = nil // whatever it says, nothing was canceled: it is real
	}
	step.At("nursery.file")
	n.mu.Lock()
	r := n.result()
	if err != nil {
		r.errs = append(r.errs, err)
	}
	if r.leaf == nil {
		r.leaf = leaf
	}
	n.mu.Unlock()
	if err == nil || n.supervise && source == BySibling {
		return
	}
	reason := err
	if name != "" {
		reason = &childError{name, err}
	}
	n.scope.end(source, reason) // only now: what the others return because of it comes after it
}

// result makes results. Preconditions: mu held.
func (n *Nursery) result() *results {
	if n.results == nil {
		n.results = &results{}
	}
	return n.results
}

// release gives a child's slot, if it has one, to whoever waits for one first.
func (n *Nursery) release() {
	if n.limit > 0 {
		n.handOn()
	}
}

// handOn is the part of release that a nursery without a limit does not need.
func (n *Nursery) handOn() {
	n.mu.Lock()
	w, _ := n.queue.Resolve()
	if w == nil {
		n.slots--
	}
	n.mu.Unlock()
	if w != nil {
		w.Unpark()
	}
}

// count counts off one of the living. After the last of the ordinary ones services are told to end; after the last of
// all WithNursery goes on.
func (n *Nursery) count(who uint64) {
	step.At("nursery.end")
	alive := n.alive.Add(-who)
	switch {
	case alive == 0:
		step.At("nursery.last")
		n.mu.Lock()
		ended := n.ended // nil: nobody waits, and whoever is about to sees that all have ended
		n.mu.Unlock()
		if ended != nil {
			close(ended)
		}
	case alive%aService == 0:
		n.mu.Lock()
		serve := n.services
		n.mu.Unlock()
		serve.end(ByCancel, errServed)
	}
}

// wait returns when nobody is alive.
func (n *Nursery) wait() {
	step.At("nursery.wait")
	n.mu.Lock()
	if n.alive.Load() == 0 {
		n.mu.Unlock()
		return
	}
	ended := make(chan struct{})
	n.ended = ended
	n.mu.Unlock()
	<-ended
}
