// Package registry is where somebody who wants to know of every scope of the process says so: a console, a test helper.
//
// There is one slot. While it is empty a scope pays for it with one load when it is opened, and nothing when it is
// closed; scopes that were opened meanwhile stay unknown.
package registry

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
)

// A Scope is a scope of package bide as an observer sees it. It is the scope's park.Host, so it is found under any
// context, and it is comparable.
type Scope interface {
	// Context is the *bide.Scope.
	Context() context.Context

	// Waits lists what the calls wait for that wait directly under the scope.
	Waits() []string

	// OnPoint has f called at every cancel point under the scope and those that are opened below it: before each look
	// at Err or Check, and before each wait. It is called before anybody else has the scope, and once.
	//
	// Context of f: the goroutine that looks or waits. It may hold any lock of its own.
	OnPoint(f func(p Point))
}

// A Point is a cancel point that a goroutine has come to.
type Point struct {
	At      Scope
	Wait    string // what it is about to wait for; "": it only looks
	Bounded bool   // the wait has a deadline of its own
}

// An Observer is told of scopes.
//
// Context: the goroutine that opens or closes the scope; nothing is locked. It must not block.
type Observer interface {
	// Opened: above is the next scope outwards, through shields and contexts of any kind; nil if there is none.
	Opened(s, above Scope)
	// Closed comes once, for every scope that it was told of, unless the observer has left.
	Closed(s Scope)
	// Timer: a timer of package timer, t, was linked in the caller's bubble, or is not linked any more.
	//
	// Context: a lock of the timer service's is held.
	Timer(t any, linked bool)
}

// seat makes two observations by one observer different ones.
type seat struct{ o Observer }

var slot atomic.Pointer[seat]

// Observe puts o into the slot; it reports false, and does nothing, if that is taken. leave empties it. A call that is
// under way by then still comes to its end.
func Observe(o Observer) (leave func(), ok bool) {
	s := &seat{o}
	if !slot.CompareAndSwap(nil, s) {
		return nil, false
	}
	return s.leave, true
}

func (s *seat) leave() { slot.CompareAndSwap(s, nil) }

// On reports whether there is an observer.
func On() bool { return slot.Load() != nil }

// Opened tells the observer, if there is one.
func Opened(s, above Scope) { tell("Opened", func(o Observer) { o.Opened(s, above) }) }

// Closed tells the observer, if there is one.
func Closed(s Scope) { tell("Closed", func(o Observer) { o.Closed(s) }) }

// Timer tells the observer, if there is one.
func Timer(t any, linked bool) {
	if On() {
		tell("Timer", func(o Observer) { o.Timer(t, linked) })
	}
}

// tell calls the observer. One that panics, or ends the goroutine, is a guest that has broken something: it is logged,
// and shown the door. A panic does not reach who opened the scope; a Goexit cannot be stopped.
func tell(call string, f func(Observer)) {
	s := slot.Load()
	if s == nil {
		return
	}
	returned := false
	defer func() {
		if returned {
			return
		}
		why := "called runtime.Goexit"
		if v := recover(); v != nil {
			why = fmt.Sprint("panicked: ", v)
		}
		s.leave()
		slog.Error("bide: an observer of scopes "+why+"; it is told of nothing any more", "call", call,
			"observer", fmt.Sprintf("%T", s.o))
	}()
	f(s.o)
	returned = true
}
