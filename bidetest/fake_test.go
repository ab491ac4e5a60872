package bidetest_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"bide.invalid/bide/bidetest"
)

// A fake is a test that may fail, and tells what it was told.
type fake struct {
	mu       sync.Mutex
	texts    []string
	cleanups []func()
}

type fatal struct{}

func (f *fake) Helper() {}

func (f *fake) Errorf(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.texts = append(f.texts, fmt.Sprintf(format, args...))
}

func (f *fake) Fatalf(format string, args ...any) {
	f.Errorf("fatal: "+format, args...)
	panic(fatal{})
}

func (f *fake) Cleanup(g func()) { f.cleanups = append(f.cleanups, g) }

// run calls body, and then the cleanups, as a test does, and returns what it complains of.
func (f *fake) run(body func(t bidetest.TB)) string {
	f.call(func() { body(f) })
	f.end()
	return f.text()
}

func (f *fake) end() {
	for n := len(f.cleanups); n > 0; n = len(f.cleanups) {
		last := f.cleanups[n-1]
		f.cleanups = f.cleanups[:n-1]
		f.call(last)
	}
}

func (f *fake) call(g func()) {
	defer func() {
		if v := recover(); v != nil && v != any(fatal{}) {
			panic(v)
		}
	}()
	g()
}

func (f *fake) text() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.texts, "\n")
}

// complains checks what the fake test says: that it contains each part, or, without parts, that it is nothing.
func complains(t *testing.T, text string, parts ...string) {
	t.Helper()
	if len(parts) == 0 && text != "" {
		t.Errorf("the test fails: %s", text)
	}
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("the test says %q, and nothing of %q", text, part)
		}
	}
}

// everywhere runs f outside and inside of a bubble.
func everywhere(t *testing.T, f func(t *testing.T)) {
	t.Run("outside", f)
	t.Run("inside", func(t *testing.T) { synctest.Test(t, f) })
}

// parkedNow starts f and returns when it is parked. Only in a bubble.
func parkedNow(f func()) {
	go f()
	synctest.Wait()
}
