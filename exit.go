package bide

import (
	"context"
	"errors"
	"os"
	"reflect"
)

// exit closes s and returns what is to become of err, the result of what ran in it. The decision is made here, by the
// state of the tree, and not by who made the error: a scope absorbs if it is canceled and no canceled one is visible
// above it. The outermost wins, also at the same instant.
func (s *Scope) exit(err error) error {
	if err == nil {
		s.close()
		return nil
	}
	absorbs := s.absorbs(err)
	s.close()
	if !absorbs {
		return err
	}
	rest, dropped := s.strip(err)
	if !dropped {
		return err
	}
	s.or(caught)
	if s.state.Load()&(expired|moveOn) != expired {
		return rest
	}
	return join(s.timeout(), rest)
}

// absorbs reports whether it is for s to drop the cancellations in err, if it has any.
func (s *Scope) absorbs(err error) bool {
	decided := false
	defer func() {
		if !decided { // a method of err panicked
			s.close()
		}
	}()
	yes := firstLeaf(err) != nil && s.look(true) && s.state.Load()&canceled != 0 && !s.deadAbove()
	decided = true
	return yes
}

// deadAbove reports whether something above s is canceled, visible through no shield; it asks the clock.
func (s *Scope) deadAbove() bool {
	if s.state.Load()&shield != 0 {
		return false
	}
	if p := s.above(); p != nil {
		return p.look(true)
	}
	return s.parent.Err() != nil
}

func (s *Scope) timeout() error {
	now := s.now()
	s.await() // until everybody below is counted
	s.mu.Lock()
	defer s.mu.Unlock()
	due := s.due.Load()
	var cut *Canceled
	if c := s.cause.Load(); c.Source == ByShutdown || c.Source == BySignal {
		cut, due = c, c.when
	}
	e := s.cause.Load().verdict
	*e = TimeoutError{
		Scope: s.Name(), Limit: max(0, due.Sub(s.start)), Elapsed: now.Sub(s.start), Ledger: s.ledger(), Cut: cut, site: s.site,
	}
	if l := s.idle(); l != nil && s.cause.Load().Source == ByIdle {
		e.Limit, e.Idle = l.d, true
	}
	return e
}

// join is errors.Join without the wrapping of a single error.
func join(errs ...error) error {
	var some []error
	for _, err := range errs {
		if err != nil {
			some = append(some, err)
		}
	}
	if len(some) == 1 {
		return some[0]
	}
	return errors.Join(some...)
}

// An error is looked at as a tree. What errors.Join made is split into its members, and rebuilt from what is left. A
// chain of single wrappings is annotation: it is a leaf, a cancellation and nothing else, if what it ends in is one.
// Any other error that wraps several is real, and so is everything around a *TimeoutError: an inner bound's verdict.

var joinType = reflect.TypeOf(errors.Join(errors.New("")))

// joined returns the members of what errors.Join made.
func joined(err error) ([]error, bool) {
	if reflect.TypeOf(err) != joinType {
		return nil, false
	}
	return err.(interface{ Unwrap() []error }).Unwrap(), true
}

// strip drops the cancellations of err that are not those of a scope above s: one that was taken along from outside of
// a shield goes on outward.
func (s *Scope) strip(err error) (rest error, dropped bool) {
	return split(err, func(c *Canceled) bool { return c.made() && !s.inherited(c) })
}

// inherited reports whether a scope above s is canceled with c.
func (s *Scope) inherited(c *Canceled) bool {
	for p := From(s.parent); p != nil; p = From(p.parent) {
		if p.state.Load()&canceled != 0 && p.cause.Load() == c {
			return true
		}
	}
	return false
}

// split takes the leaves out of err; of *Canceled values only those that drop accepts.
func split(err error, drop func(*Canceled) bool) (rest error, dropped bool) {
	members, ok := joined(err)
	if !ok {
		if leaf(err, drop) {
			return nil, true
		}
		return err, false
	}
	var keep []error
	for _, e := range members {
		r, d := split(e, drop)
		dropped = dropped || d
		keep = append(keep, r)
	}
	if !dropped {
		return err, false
	}
	return join(keep...), true
}

func leaf(err error, drop func(*Canceled) bool) bool {
	for err != nil {
		switch e := err.(type) {
		case *TimeoutError:
			return false
		case *Canceled:
			return drop(e)
		}
		if err == context.Canceled || err == context.DeadlineExceeded || err == os.ErrDeadlineExceeded {
			return true
		}
		// Package net's own errors say by a method that they are the sentinels.
		if e, ok := err.(interface{ Is(error) bool }); ok &&
			(e.Is(context.Canceled) || e.Is(context.DeadlineExceeded) || e.Is(os.ErrDeadlineExceeded)) {
			return true
		}
		if members, ok := joined(err); ok {
			for _, e := range members {
				if !leaf(e, drop) {
					return false
				}
			}
			return true
		}
		e, ok := err.(interface{ Unwrap() error })
		if !ok {
			return false
		}
		err = e.Unwrap()
	}
	return false
}

// firstLeaf is the first cancellation in err, of whatever scope, or nil.
func firstLeaf(err error) error {
	members, ok := joined(err)
	if !ok {
		if err != nil && leaf(err, (*Canceled).made) {
			return err
		}
		return nil
	}
	for _, e := range members {
		if l := firstLeaf(e); l != nil {
			return l
		}
	}
	return nil
}
