package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"
)

// A page is where the tour is written: a column of names and verdicts, and text beside it.
type page struct {
	w      io.Writer
	colour bool
}

const (
	bold  = "1"
	faint = "2"
	green = "32"
	red   = "1;31"
)

func (p page) intro() {
	p.line("", "", "What usually goes wrong with timeouts, and what bide does about it. Measured here and now.")
}

func (p page) trouble(s scene) {
	fmt.Fprintln(p.w)
	p.line(bold, s.name, s.trouble)
	p.line("", "", p.paint(faint, s.code))
}

func (p page) outcome(s scene, m measure, faults []string) {
	if len(faults) == 0 {
		for _, text := range m.story() {
			p.line("", "", text)
		}
		p.line(green, "kept", s.name+timing(m.spans()))
		return
	}
	for _, f := range faults {
		p.line(red, "BROKEN", s.name+": "+f)
	}
	if len(m.spans()) > 0 {
		p.line("", "", s.name+timing(m.spans()))
	}
}

func (p page) end(scenes, broken int, took time.Duration) {
	fmt.Fprintln(p.w)
	count := fmt.Sprintf("%d scenes", scenes)
	if scenes == 1 {
		count = "1 scene"
	}
	if broken > 0 {
		p.line(red, "BROKEN", fmt.Sprintf("%d of %s broke a promise.", broken, count))
		return
	}
	p.line(green, "kept", fmt.Sprintf("%s in %.1f s, every promise kept.", count, took.Seconds()))
}

// line writes a line, its first column in a colour.
func (p page) line(colour, first, text string) {
	pad := strings.Repeat(" ", max(1, 9-len(first)))
	fmt.Fprintln(p.w, p.paint(colour, first)+pad+text)
}

func (p page) paint(colour, text string) string {
	if !p.colour || colour == "" {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

// colourful reports whether w is a terminal whose owner does not object to colours (no-color.org).
func colourful(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	if runtime.GOOS == "windows" {
		return false // whether its console knows the escapes takes more than this to find out
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
