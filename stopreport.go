package bide

import (
	"cmp"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"bide.invalid/bide/park"
)

// A StopReport lists what was still running at the hard end of a [Scope.Stop].
type StopReport struct {
	Scope  string        // the Name of the stopped scope
	Reason error         // of the Stop
	Grace  time.Duration // from the Stop to the hard end
	At     time.Time     // the hard end, on the scope's clock
	Left   []Straggler   // outer ones first
	Stacks []Stack       // with the option Stacks, and under Main; the most frequent first
}

// A Straggler is a scope that was open at a hard end, and not only because of scopes below it that are listed
// themselves.
type Straggler struct {
	Path     string        // the names from the stopped scope down, with slashes between them
	Open     time.Duration // since it was opened; without a bound, since somebody first waited under it, else 0
	Waits    Ledger        // how many wait directly under it, for what, in calls that obey the scope
	Children int           // of a nursery: those that have not ended, services aside
}

// StopReport is nil until a hard end has found something that was still running. It lists the scopes that somebody has
// waited under, or has asked for their Err more than once: of others a Stop does not know. Do not modify it.
func (s *Scope) StopReport() *StopReport {
	if st := s.stopping(); st != nil {
		return st.report.Load()
	}
	return nil
}

// Stacks adds stacks of goroutines to a scope's [StopReport]: of those that wait under a scope, or run a scope's
// function, a nursery's child or a handler of package httpio, in the whole process. Taking the stacks stops the process
// for a moment, longer the more goroutines there are. [Main] has it always.
func Stacks() Option { return Option{kind: optStacks} }

// collect makes the report: the scopes are still as the hard end finds them.
func (st *shutdown) collect() {
	s := st.scope
	r := &StopReport{Scope: s.Name(), Reason: st.c.Reason, Grace: st.at.Sub(st.start), At: st.c.At}
	all := slices.DeleteFunc(s.tree(), func(k *Scope) bool { return k.state.Load()&closed != 0 || k.serves(s) })
	outer := map[*Scope]bool{}
	for _, k := range all {
		if p := From(k.parent); k != s && p != nil {
			outer[p] = true
		}
	}
	for _, k := range all {
		if l := k.straggler(s); len(l.Waits) > 0 || l.Children > 0 || !outer[k] {
			r.Left = append(r.Left, l)
		}
	}
	if len(r.Left) == 0 {
		return
	}
	if s.state.Load()&stacks != 0 {
		r.Stacks = takeStacks()
	}
	st.report.Store(r)
}

// serves reports whether s, below top, is a nursery's service, or a part of one. They are not to end before all others,
// and so no stragglers.
func (s *Scope) serves(top *Scope) bool {
	for ; s != top; s = From(s.parent) {
		if st := s.state.Load(); st&shield != 0 {
			return st&spared != 0
		}
	}
	return false
}

// straggler describes s, which lies below top, or is it.
func (s *Scope) straggler(top *Scope) Straggler {
	l := Straggler{Path: s.path(top)}
	s.mu.Lock()
	s.waiters.Each(func(k park.Kind) { l.Waits.add(LedgerEntry{Kind: k, Open: 1}) })
	start := s.start
	s.mu.Unlock()
	slices.SortFunc(l.Waits, func(a, b LedgerEntry) int { return cmp.Compare(a.Kind, b.Kind) })
	if now := s.now(); start <= now { // not Forever
		l.Open = now.Sub(start)
	}
	if n := s.nursery(); n != nil {
		l.Children = int(n.alive.Load() % theBody)
	}
	return l
}

// path is the names from top down to s. A scope without a name has no part in it, unless it is s.
func (s *Scope) path(top *Scope) string {
	var names []string
	for p := s; p != nil; p = From(p.parent) {
		if name := p.Name(); name != "" || p == s {
			names = append(names, cmp.Or(name, p.kind()))
		}
		if p == top {
			break
		}
	}
	slices.Reverse(names)
	return strings.Join(names, "/")
}

// kind stands for the name of a scope that has none.
func (s *Scope) kind() string {
	switch st := s.state.Load(); {
	case st&shield != 0:
		return "(shield)"
	case st&nursed != 0:
		return "(nursery)"
	}
	return "(scope)"
}

// String says who it is, and what it waits for.
func (l Straggler) String() string {
	text := l.Path + ": open " + short(l.Open)
	switch {
	case len(l.Waits) > 0:
		text += ", " + l.Waits.String()
	case l.Children == 0:
		text += ", waiting for nothing of ours"
	}
	if l.Children > 0 {
		text += ", children: " + strconv.Itoa(l.Children)
	}
	return text
}

// WriteTo writes the report as text of several lines.
func (r *StopReport) WriteTo(w io.Writer) (int64, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "hard end of scope %q after a grace of %v", r.Scope, r.Grace)
	if r.Reason != nil {
		fmt.Fprintf(&b, ": %v", r.Reason)
	}
	b.WriteString("\n")
	for _, l := range r.Left {
		fmt.Fprintf(&b, "\t%v\n", l)
	}
	for _, g := range r.Stacks {
		fmt.Fprintf(&b, "\t%d × [%s]\n", g.Count, g.State)
		for _, f := range g.Frames {
			fmt.Fprintf(&b, "\t\t%s\n", f)
		}
	}
	n, err := io.WriteString(w, b.String())
	return int64(n), err
}

// log writes the report as records of one line each.
func (r *StopReport) log(l *slog.Logger) {
	l.Error("bide: hard stop", "scope", r.Scope, "reason", r.Reason, "grace", r.Grace, "left", len(r.Left))
	const most = 32
	for i, s := range r.Left {
		if i == most {
			l.Error("bide: and others were left", "more", len(r.Left)-most)
			break
		}
		l.Error("bide: left: " + s.String())
	}
	for i, g := range r.Stacks {
		if i == most {
			l.Error("bide: and goroutines with other stacks", "more", len(r.Stacks)-most)
			break
		}
		l.Error("bide: goroutine", "count", g.Count, "state", g.State, "stack", strings.Join(g.Frames, " < "))
	}
}
