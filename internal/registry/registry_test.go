package registry_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"bide.invalid/bide/internal/registry"
)

type scope struct{ name string }

func (*scope) Context() context.Context     { return context.Background() }
func (*scope) Waits() []string              { return nil }
func (*scope) OnPoint(func(registry.Point)) {}

// An observer writes down what it is told, and then does what it was told to do.
type observer struct {
	told []string
	then func()
}

func (o *observer) Opened(s, above registry.Scope) {
	call := "opened " + s.(*scope).name
	if above != nil {
		call += " below " + above.(*scope).name
	}
	o.told = append(o.told, call)
	o.then()
}

func (o *observer) Timer(t any, linked bool) {
	o.told = append(o.told, fmt.Sprint(t, " linked ", linked))
	o.then()
}

func (o *observer) Closed(s registry.Scope) {
	o.told = append(o.told, "closed "+s.(*scope).name)
	o.then()
}

func observe(t *testing.T, then func()) (o *observer, leave func()) {
	t.Helper()
	o = &observer{then: then}
	leave, ok := registry.Observe(o)
	if !ok {
		t.Fatal("the slot is taken")
	}
	return o, leave
}

// logged returns what f logs.
func logged(f func()) string {
	var b bytes.Buffer
	old := slog.Default()
	defer slog.SetDefault(old)
	slog.SetDefault(slog.New(slog.NewTextHandler(&b, nil)))
	f()
	return b.String()
}

func TestOneSlot(t *testing.T) {
	a, b := &scope{"a"}, &scope{"b"}
	registry.Opened(a, nil) // nobody is told
	o, leave := observe(t, func() {})
	if _, ok := registry.Observe(o); ok || !registry.On() {
		t.Error("a second observer")
	}
	registry.Opened(a, nil)
	registry.Opened(b, a)
	registry.Closed(b)
	leave()
	registry.Closed(a)
	if want := []string{"opened a", "opened b below a", "closed b"}; !slices.Equal(o.told, want) {
		t.Errorf("told %q, want %q", o.told, want)
	}
	if registry.On() {
		t.Error("the slot is taken by one that has left")
	}
	next, leaveNext := observe(t, func() {})
	leave() // again: the slot is another's now
	registry.Closed(a)
	if leaveNext(); len(next.told) != 1 {
		t.Errorf("the next observer was told %q", next.told)
	}
}

// The same observer, back again: its first leave does not make it leave a second time.
func TestSeats(t *testing.T) {
	o, leave := observe(t, func() {})
	leave()
	again, ok := registry.Observe(o)
	leave()
	if !ok || !registry.On() {
		t.Error("it was removed by who had left before")
	}
	again()
}

func TestPanics(t *testing.T) {
	a := &scope{"a"}
	for name, call := range map[string]func(){
		"Opened": func() { registry.Opened(a, nil) },
		"Closed": func() { registry.Closed(a) },
	} {
		o, _ := observe(t, func() { panic("the observer's") })
		text := logged(call) // and returns
		if registry.On() || !strings.Contains(text, "the observer's") || !strings.Contains(text, "call="+name) ||
			!strings.Contains(text, "registry_test.observer") {
			t.Errorf("%s: on: %v, logged: %s", name, registry.On(), text)
		}
		if call(); len(o.told) != 1 {
			t.Errorf("told %q after it has panicked", o.told)
		}
	}
}

func TestGoexit(t *testing.T) {
	observe(t, runtime.Goexit)
	returned := false
	var group sync.WaitGroup
	text := logged(func() {
		group.Go(func() {
			registry.Opened(&scope{"a"}, nil)
			returned = true
		})
		group.Wait()
	})
	if registry.On() || returned || !strings.Contains(text, "Goexit") {
		t.Errorf("on: %v, returned: %v, logged: %s", registry.On(), returned, text)
	}
}

// Nobody there: it allocates nothing.
func TestNobody(t *testing.T) {
	a := &scope{"a"}
	if n := testing.AllocsPerRun(100, func() { registry.Opened(a, nil); registry.Closed(a) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
