package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
)

func TestNaive(t *testing.T) {
	var out bytes.Buffer
	if n := explore(&out, "naive", newNaive()); n != 1 {
		t.Errorf("%d faults", n)
	}
	want := `^bidetest: Explore: f, canceled at point \d+ of \d+, in bide.Sleep at main.go:\d+, has kept something: called again, and not canceled, it does not end:\n`
	if !regexp.MustCompile(want).MatchString(out.String()) {
		t.Errorf("it says %s", out.String())
	}
}

func TestPool(t *testing.T) {
	var out bytes.Buffer
	if n := explore(&out, "syncs.Pool", newPool()); n != 0 || !strings.Contains(out.String(), "nothing was lost") {
		t.Errorf("%d faults: %s", n, out.String())
	}
}
