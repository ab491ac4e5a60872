package bide

import (
	"path"
	"reflect"
	"runtime"
	"strconv"
)

// A site is the place of a call: a program counter, as its distance from this package's code, so that it fits into a
// Scope beside its state. 0: it is not known.
type site int32

var origin = int64(reflect.ValueOf(From).Pointer())

// here is the call that is skip calls above the caller. It costs some hundred nanoseconds.
func here(skip int) site {
	var pc [1]uintptr
	if runtime.Callers(skip+2, pc[:]) == 0 {
		return 0
	}
	d := int64(pc[0]) - origin
	if d != int64(int32(d)) {
		return 0 // in another module of code, a plugin's
	}
	return site(d)
}

// place is the function, and the file and line.
func (s site) place() (function, line string) {
	if s == 0 {
		return "", ""
	}
	f, _ := runtime.CallersFrames([]uintptr{uintptr(origin + int64(s))}).Next()
	return path.Base(f.Function), path.Base(f.File) + ":" + strconv.Itoa(f.Line)
}

// setHere notes who has opened the scope, for the sake of its bound: skip calls above the caller. A name says it already,
// and costs nothing.
func (s *Scope) setHere(skip int) {
	if s.sited() && s.Name() == "" {
		s.site = here(skip + 1)
	}
}

// sited reports whether it is kept who has set the bound.
func (s *Scope) sited() bool { return s.state.Load()&accounts != 0 }
