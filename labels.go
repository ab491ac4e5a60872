package bide

import (
	"context"
	"runtime/pprof"
)

// labelKey is the key of the label.
const labelKey = "bide"

// Labels gives the goroutines that run under the scope, and under what is opened below it, a label of runtime/pprof:
// "bide" is the path of the scopes' names, with slashes between them, "main/worker/fetch". Profiles of the processor's
// time and of goroutines show it, so the time is told apart by what it was spent for:
//
//	go tool pprof -tagfocus bide=main/worker
//
// A goroutine has it while it runs the function of a scope ([Run], [FailAfter] and the like, the body of a nursery) or
// is a nursery's child; with [Open] the scopes below have it. Afterwards it has the labels of the context outside.
// Labels of one's own (pprof.Do) are kept, and add up. It costs some allocations a named scope, and without it nothing.
func Labels() Option { return Option{kind: optLabels} }

// extend makes the label of a named scope. Preconditions: s is not shared yet.
func (s *Scope) extend() {
	name := s.Name()
	if name == "" || s.state.Load()&labels == 0 {
		return
	}
	if outer, ok := pprof.Label(s.parent, labelKey); ok {
		name = outer + "/" + name
	}
	s.makeRare().labeled = pprof.WithLabels(s.parent, pprof.Labels(labelKey, name))
	s.or(extended)
}

// wear gives the goroutine the labels of s, if it has any.
func (s *Scope) wear() {
	if s.state.Load()&labels != 0 {
		pprof.SetGoroutineLabels(s)
	}
}

// do calls f in s, with the labels of s.
func (s *Scope) do(f func(context.Context) error) error {
	if s.state.Load()&labels == 0 {
		return f(s)
	}
	pprof.SetGoroutineLabels(s)
	defer pprof.SetGoroutineLabels(s.parent)
	return f(s)
}
