package main

import (
	"bytes"
	"os"
	"runtime"
	"strings"
	"testing"
)

func TestColourful(t *testing.T) {
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "")
	if colourful(&bytes.Buffer{}) {
		t.Error("colours in a buffer")
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if colourful(w) {
		t.Error("colours in a pipe")
	}
	if runtime.GOOS == "windows" {
		return // never
	}
	device, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0) // to colourful it looks like a terminal
	if err != nil {
		t.Fatal(err)
	}
	defer device.Close()
	if !colourful(device) {
		t.Error("no colours on a character device")
	}
	t.Setenv("NO_COLOR", "1")
	if colourful(device) {
		t.Error("colours in spite of NO_COLOR")
	}
	t.Setenv("NO_COLOR", "")
	t.Setenv("TERM", "dumb")
	if colourful(device) {
		t.Error("colours on a terminal that has none")
	}
}

// Colours change nothing else.
func TestColours(t *testing.T) {
	early := played(lockScene(), earlyLock)
	text := func(colour bool) string {
		var b bytes.Buffer
		tour{nil, tourLimit}.guide([]scene{played(lockScene(), keptLock), early}, page{&b, colour})
		return b.String()
	}
	plain, coloured := text(false), text(true)
	if strings.Contains(plain, "\x1b") {
		t.Errorf("escapes in plain text: %q", plain)
	}
	for _, want := range []string{"\x1b[1mlock\x1b[0m", "\x1b[32mkept\x1b[0m", "\x1b[1;31mBROKEN\x1b[0m"} {
		if !strings.Contains(coloured, want) {
			t.Errorf("no %q in %q", want, coloured)
		}
	}
	for _, colour := range []string{bold, faint, green, red, "0"} {
		coloured = strings.ReplaceAll(coloured, "\x1b["+colour+"m", "")
	}
	if coloured != plain {
		t.Errorf("without its colours\n%s\nis not\n%s", coloured, plain)
	}
}
