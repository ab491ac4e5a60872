package bidetest

import (
	"cmp"
	"fmt"
	"path"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/registry"
	"bide.invalid/bide/park"
)

// module is the path of the root package, and what the names of its functions begin with.
var module = reflect.TypeFor[bide.Scope]().PkgPath()

// A watch knows the scopes that are open. The process has one, in the registry's slot while some test uses it.
type watch struct {
	mu        sync.Mutex
	users     int
	bubbled   int // those of them that want to know of each scope in which bubble it was opened
	exploring int // those that want to know of timers
	vacate    func()
	opened    int // since the first user came
	open      map[registry.Scope]*origin
	timers    map[any]*origin // of bubbles
}

var theWatch watch

// An origin is how a scope was opened.
type origin struct {
	n      int            // it was the n-th
	root   registry.Scope // of the test that it belongs to, or nil; or itself
	bubble string         // as in a traceback; "?" was not looked for, "" is outside
	pcs    [16]uintptr
}

// use makes the caller a user; bubbled: one in a bubble, who wants to know what was opened there. It is nil, and the
// test has failed, if somebody else is in the slot.
func use(t TB, bubbled bool) *watch {
	t.Helper()
	w := &theWatch
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.users == 0 {
		vacate, ok := registry.Observe(w)
		if !ok {
			t.Fatalf("bidetest: somebody else watches the scopes of this process (a console?), and only one can")
			return nil
		}
		w.vacate, w.opened = vacate, 0
		w.open, w.timers = map[registry.Scope]*origin{}, map[any]*origin{}
	}
	w.users++
	if bubbled {
		w.bubbled++
	}
	return w
}

// explore makes a user one who wants to know of timers.
func (w *watch) explore() (end func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.exploring++
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.exploring--
	}
}

// leave is the end of a use.
func (w *watch) leave(bubbled bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if bubbled {
		w.bubbled--
	}
	if w.users--; w.users == 0 {
		w.vacate()
		w.open, w.timers = nil, nil
	}
}

// Opened is the registry's.
func (w *watch) Opened(s, above registry.Scope) {
	o := &origin{bubble: "?"}
	runtime.Callers(3, o.pcs[:])
	inside := clock.InBubble()
	w.mu.Lock()
	ask := inside && w.bubbled > 0
	w.mu.Unlock()
	switch {
	case !inside:
		o.bubble = ""
	case ask:
		o.bubble = thisBubble()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open == nil { // the last user has left meanwhile
		return
	}
	w.opened++
	o.n = w.opened
	if a := w.open[above]; a != nil {
		o.root = a.root
	}
	w.open[s] = o
}

// Closed is the registry's.
func (w *watch) Closed(s registry.Scope) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.open, s)
}

// Timer is the registry's.
func (w *watch) Timer(t any, linked bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !linked {
		delete(w.timers, t)
		return
	}
	if w.timers == nil || w.exploring == 0 { // the last user has left meanwhile, or nobody asks
		return
	}
	w.opened++
	o := &origin{n: w.opened, bubble: thisBubble()}
	runtime.Callers(3, o.pcs[:])
	w.timers[t] = o
}

// timersSince describes the timers that are left of those that were set after the n-th, in a bubble.
func (w *watch) timersSince(n int, bubble string) (texts []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, o := range w.timers {
		if o.n > n && o.bubble == bubble {
			_, at := caller(o.pcs[:])
			texts = append(texts, "a timer that is pending, set at "+at)
		}
	}
	slices.Sort(texts)
	return texts
}

// seen is s as the registry knows it.
func seen(s *bide.Scope) registry.Scope { return s.Value(park.Key{}).(registry.Scope) }

// root makes s a test's own. Preconditions: nothing was opened below it yet.
func (w *watch) root(s *bide.Scope) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if o := w.open[seen(s)]; o != nil {
		o.root = seen(s)
	}
}

// count is how many scopes were opened so far.
func (w *watch) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.opened
}

// below describes what is left under a test's root.
func (w *watch) below(s *bide.Scope) []string {
	root := seen(s)
	left := w.left(func(s registry.Scope, o *origin) bool { return o.root == root && s != root })
	if waits := root.Waits(); len(waits) > 0 {
		left = append([]string{"the scope of the test" + waiting(waits)}, left...)
	}
	return left
}

// since describes what is left of what was opened after the n-th, in a bubble or outside.
func (w *watch) since(n int, bubble string) []string {
	return w.left(func(_ registry.Scope, o *origin) bool { return o.n > n && o.bubble == bubble })
}

// left describes the scopes that are open still, in the order in which they were opened.
func (w *watch) left(which func(registry.Scope, *origin) bool) (texts []string) {
	type found struct {
		registry.Scope
		*origin
	}
	var all []found
	w.mu.Lock()
	for s, o := range w.open {
		if which(s, o) {
			all = append(all, found{s, o})
		}
	}
	w.mu.Unlock()
	slices.SortFunc(all, func(a, b found) int { return cmp.Compare(a.n, b.n) })
	for _, f := range all {
		texts = append(texts, fmt.Sprintf("%v, opened %s%s", f.Context(), f.where(), waiting(f.Waits())))
	}
	return texts
}

// waiting lists kinds of waits.
func waiting(kinds []string) string {
	if len(kinds) == 0 {
		return ""
	}
	slices.Sort(kinds)
	var parts []string
	for i := 0; i < len(kinds); {
		n := 1
		for i+n < len(kinds) && kinds[i+n] == kinds[i] {
			n++
		}
		part := kinds[i]
		if n > 1 {
			part = fmt.Sprint(n, " ", part)
		}
		parts = append(parts, part)
		i += n
	}
	return "; waiting under it: " + strings.Join(parts, ", ")
}

// library reports whether a function is this module's own: not of a test, nor an example.
func library(function, file string) bool {
	rest, ok := strings.CutPrefix(function, module)
	return ok && (rest[0] == '.' || rest[0] == '/') && !strings.HasSuffix(file, "_test.go") && !strings.HasPrefix(rest, "/examples/")
}

// caller is the place in code that is not of this module, and the module's function that it calls. If there is none, as on
// a goroutine that runs a method of the module, it is the outermost function instead of a place.
func caller(pcs []uintptr) (callee, at string) {
	inner, outer := "", "" // of the module's functions so far
	for frames := runtime.CallersFrames(pcs); ; {
		f, more := frames.Next()
		switch {
		case f.Function == "" || strings.HasPrefix(f.Function, "runtime."):
		case !library(f.Function, f.File):
			return outer, place(f)
		default:
			inner, outer = outer, name(f)
		}
		if !more {
			return inner, outer
		}
	}
}

// name is a function's, with its package.
func name(f runtime.Frame) string { return path.Base(f.Function) }

// place is the file and the line.
func place(f runtime.Frame) string { return fmt.Sprintf("%s:%d", path.Base(f.File), f.Line) }

// where is the first caller that is not of the root package, nor of what that is made of.
func (o *origin) where() string {
	frames := runtime.CallersFrames(o.pcs[:])
	for {
		f, more := frames.Next()
		inside := strings.HasPrefix(f.Function, module+".") || strings.HasPrefix(f.Function, module+"/internal/")
		if f.Function != "" && !inside {
			return "by " + name(f) + " at " + place(f)
		}
		if !more {
			return "by this module"
		}
	}
}
