package bide

import "unsafe"

// named is a Scope that may have a name. Most have none, and a pointer to it would cost each of them; behind the Scope it
// costs one that has it no second allocation.
//
// The conversions below are safe as long as Scope is the first field, which the next line checks, and isNamed is set for
// what is a named, and nothing else: by newScope, WithNursery and Main.
type named struct {
	Scope
	name string
}

const _ = -unsafe.Offsetof(named{}.Scope) // does not compile if it is not 0

// newScope is a Scope for the options.
func newScope(opts []Option) *Scope {
	for i := range opts {
		if opts[i].kind == optName {
			n := &named{}
			n.state.Store(isNamed)
			return &n.Scope
		}
	}
	return &Scope{}
}

// setName: Preconditions: isNamed is set, or will be; s is not shared yet.
func (s *Scope) setName(name string) { (*named)(unsafe.Pointer(s)).name = name }

// Name is the name given by the option Name, or "".
func (s *Scope) Name() string {
	if s.state.Load()&isNamed == 0 {
		return ""
	}
	return (*named)(unsafe.Pointer(s)).name
}
