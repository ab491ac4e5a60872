package bidetest

import (
	"regexp"
	"runtime"
	"strings"
)

// A goroutine is one of a traceback. What its text says decides only what a test that fails complains of.
type goroutine struct {
	id     string
	bubble string // "" outside
	text   string
}

var (
	header = regexp.MustCompile(`^goroutine (\d+) `)
	bubble = regexp.MustCompile(`synctest bubble \d+`)
)

func parse(text string) goroutine {
	first, _, _ := strings.Cut(text, "\n")
	g := goroutine{text: text, bubble: bubble.FindString(first)}
	if m := header.FindStringSubmatch(first); m != nil {
		g.id = m[1]
	}
	return g
}

// goroutines are all of them, the caller first.
func goroutines() (all []goroutine) {
	buf := make([]byte, 1<<20)
	n := runtime.Stack(buf, true)
	for n == len(buf) {
		buf = make([]byte, 2*len(buf))
		n = runtime.Stack(buf, true)
	}
	for text := range strings.SplitSeq(strings.TrimSpace(string(buf[:n])), "\n\n") {
		all = append(all, parse(text))
	}
	return all
}

// thisBubble is the caller's. It costs a traceback.
func thisBubble() string {
	var buf [128]byte
	return parse(string(buf[:runtime.Stack(buf[:], false)])).bubble
}

// testing reports whether the goroutine runs a test or waits for one.
func (g goroutine) testing() bool {
	return g.has(func(frame string) bool {
		return strings.HasPrefix(frame, "testing.") || strings.HasPrefix(frame, "testing/synctest.")
	})
}

// ours reports whether the goroutine is in a function of this module, tests of the module left out.
func (g goroutine) ours() bool {
	return g.has(func(frame string) bool {
		rest, ok := strings.CutPrefix(frame, module)
		pkg, _, _ := strings.Cut(rest, ".")
		return ok && (pkg == "" || pkg[0] == '/') && !strings.HasSuffix(pkg, "_test")
	})
}

// has looks at the functions that the goroutine is in; who created it does not count.
func (g goroutine) has(match func(frame string) bool) bool {
	for line := range strings.Lines(g.text) {
		if !strings.HasPrefix(line, "\t") && match(line) {
			return true
		}
	}
	return false
}
