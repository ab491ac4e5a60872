package bide

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"bide.invalid/bide/park"
)

// A Ledger says what was waited for under a scope, by kind; in a [TimeoutError] the longest first.
type Ledger []LedgerEntry

// A LedgerEntry is about the waits of one kind.
type LedgerEntry struct {
	Kind  park.Kind
	Open  int           // waits that the expiry ended
	Count int           // with Account: waits that have ended, one way or the other
	Total time.Duration // with Account: how long these were, together
}

// String lists the kinds with their times, or, where there are none, what was being waited for.
func (l Ledger) String() string {
	var timed, open []string
	for _, e := range l {
		if e.Count > 0 {
			timed = append(timed, e.Kind.String()+" "+short(e.Total))
		}
		switch {
		case e.Open == 1:
			open = append(open, e.Kind.String())
		case e.Open > 1:
			open = append(open, strconv.Itoa(e.Open)+" "+e.Kind.String())
		}
	}
	if len(timed) > 0 {
		return strings.Join(timed, ", ")
	}
	if len(open) > 0 {
		return "waiting for " + strings.Join(open, ", ")
	}
	return ""
}

// short has three digits or so of a duration; from a tenth of a second on in seconds, to be compared at a glance: 1.7s,
// 0.2s.
func short(d time.Duration) string {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	d = d.Round(unit)
	if 100*time.Millisecond <= d && d < time.Second {
		return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + "s"
	}
	return d.String()
}

// add adds an entry to that of its kind.
func (l *Ledger) add(e LedgerEntry) {
	for i := range *l {
		if sum := &(*l)[i]; sum.Kind == e.Kind {
			sum.Open += e.Open
			sum.Count += e.Count
			sum.Total += e.Total
			return
		}
	}
	*l = append(*l, e)
}

// ledger is what the scope knows. Preconditions: mu held, and the scope has expired, and await returned.
func (s *Scope) ledger() Ledger {
	open := s.cause.Load().verdict.Ledger
	if len(open) == 0 {
		open = nil
	}
	r := s.rare()
	if r == nil || len(r.sums) == 0 {
		return open
	}
	all := slices.Clone(r.sums)
	for _, e := range open {
		all.add(e)
	}
	slices.SortStableFunc(all, func(a, b LedgerEntry) int { return int(min(1, max(-1, b.Total-a.Total))) })
	return all
}

// charge adds to the sums of s, and, where these were passed on already, to those above.
func (s *Scope) charge(e LedgerEntry) {
	for s != nil && s.state.Load()&accounts != 0 {
		s.mu.Lock()
		s.makeRare().sums.add(e)
		late := s.state.Load()&passed != 0
		s.mu.Unlock()
		if !late {
			return
		}
		s = From(s.parent)
	}
}

// passOn adds the sums to those of the scope above: a shield's, too. Preconditions: s is closed.
func (s *Scope) passOn() {
	s.mu.Lock()
	var sums Ledger
	if r := s.rare(); r != nil {
		sums = slices.Clone(r.sums) // waits that are ending now may be added yet
	}
	s.or(passed)
	s.mu.Unlock()
	if p := From(s.parent); p != nil {
		for _, e := range sums {
			p.charge(e)
		}
	}
}
