package bide

import "unsafe"

// nursery is the nursery that s is the scope of, or nil. A report needs the way back, once in the life of a process; a
// pointer for it would cost every scope.
//
// It is safe as long as scope is the first field of a Nursery, which the next line checks, and nothing but WithNursery
// sets nursed.
func (s *Scope) nursery() *Nursery {
	if s.state.Load()&nursed == 0 {
		return nil
	}
	return (*Nursery)(unsafe.Pointer(s))
}

const _ = -unsafe.Offsetof(Nursery{}.scope) // does not compile if it is not 0
