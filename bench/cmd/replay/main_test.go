package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer/queue"
)

// made is a generated trace.
func made(t *testing.T, name string, n int, seed uint64) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := generateTo(func(p []byte) error { _, err := b.Write(p); return err }, name, n, seed); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func loaded(t *testing.T, c class, data []byte) *trace {
	t.Helper()
	tr := new(trace)
	if err := tr.read(c, bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	return tr
}

// TestGenerators: the same bytes for the same seed, on every machine; and what each kind of program is about.
func TestGenerators(t *testing.T) {
	for _, c := range []struct {
		name, sum string
		check     func(n counts, t *trace) bool
	}{
		{"requests", "34276fb49b72882c", func(n counts, t *trace) bool {
			few, _ := t.common()
			return n.scheduled == 5000 && n.moved == 0 && n.canceled > 4900 && n.canceled < 4970 && n.fired == n.scheduled-n.canceled && few <= 3
		}},
		{"idle", "53351bd6906c82d5", func(n counts, t *trace) bool {
			few, all := t.common()
			return n.scheduled == 5000 && n.moved > 15*5000 && n.fired > 400 && n.fired < 600 && few == 1 && all == 1 && t.most > 4000
		}},
		{"sleeps", "893b6747f2ec7d18", func(n counts, t *trace) bool {
			return n.scheduled == 5000 && n.fired == 5000 && t.most == 100
		}},
	} {
		data := made(t, c.name, 5000, 7)
		if sum := fmt.Sprintf("%x", sha256.Sum256(data))[:16]; sum != c.sum {
			t.Errorf("%s: the trace has changed: %s, want %s", c.name, sum, c.sum)
		}
		if bytes.Equal(data, made(t, c.name, 5000, 8)) {
			t.Errorf("%s: another seed makes no difference", c.name)
		}
		if tr := loaded(t, timeout, data); !c.check(tr.counts[timeout], tr) {
			t.Errorf("%s: %+v, at most %d pending", c.name, tr.counts[timeout], tr.most)
		}
	}
	for name := range generators {
		for _, n := range []int{1, 2, 49, 51} {
			if tr := loaded(t, timeout, made(t, name, n, 1)); tr.counts[timeout].scheduled != n {
				t.Errorf("%s, %d: %+v", name, n, tr.counts[timeout])
			}
		}
	}
	full := errors.New("no space")
	if err := generateTo(func([]byte) error { return full }, "sleeps", 10, 1); !errors.Is(err, full) {
		t.Errorf("a trace that could not be written: %v", err)
	}
}

// TestPlay: on every side just those come that came in the recorded program, and as late as the table of queues says.
func TestPlay(t *testing.T) {
	for name := range generators {
		tr := loaded(t, timeout, made(t, name, 2000, 3))
		if err := tr.read(sleep, bytes.NewReader(made(t, "sleeps", 1000, 4))); err != nil {
			t.Fatal(err)
		}
		for _, s := range sides(true) {
			p := newPlay(tr, s)
			p.late = []time.Duration{}
			p.open(s)
			p.run(len(tr.ops))
			p.drain()
			if want := tr.counts[timeout].fired + tr.counts[sleep].fired; len(p.late) != want {
				t.Errorf("%s, %s: %d came, want %d", name, s.name, len(p.late), want)
			}
			bound := max(s.of[timeout].Late(time.Minute), s.of[sleep].Late(time.Minute))
			for _, late := range p.late {
				if late < 0 || late > bound {
					t.Fatalf("%s, %s: late by %v, at most %v", name, s.name, late, bound)
				}
			}
			for _, q := range p.all {
				if q.Len() != 0 {
					t.Errorf("%s, %s: %d are left", name, s.name, q.Len())
				}
			}
		}
	}
}

// TestPlayIsLater: ids that end and begin anew before the queue's tick, timers that came and are moved, Forever.
func TestPlayIsLater(t *testing.T) {
	ops := []queue.Op{
		{Kind: queue.Scheduled, ID: 0, Now: 10, At: 20},
		{Kind: queue.Fired, ID: 0, Now: 21},
		{Kind: queue.Scheduled, ID: 0, Now: 22, At: 30},
		{Kind: queue.Scheduled, ID: 1, Now: 22, At: clock.Forever},
		{Kind: queue.Fired, ID: 0, Now: 31},
		{Kind: queue.Scheduled, ID: 0, Now: 40, At: 5 << 20},
		{Kind: queue.Moved, ID: 0, Now: 6 << 20, At: 8 << 20}, // the recorded program was late itself
		{Kind: queue.Canceled, ID: 0, Now: 9 << 20},           // and is again
		{Kind: queue.Scheduled, ID: 0, Now: 9 << 20, At: 7 << 20},
	}
	b, _ := queue.AppendHeader(make([]byte, 0, 1000))
	before := clock.Instant(0)
	for _, o := range ops {
		b, _ = queue.AppendOp(b, before, o)
		before = o.Now
	}
	tr := loaded(t, timeout, b)
	for _, s := range sides(false) {
		p := newPlay(tr, s)
		p.late = []time.Duration{}
		p.open(s)
		p.run(len(tr.ops))
		p.drain()
		if len(p.late) != 5 || p.all[0].Len() != 1 {
			t.Errorf("%s: %d came, and %d are left, want 5 and 1", s.name, len(p.late), p.all[0].Len())
		}
	}
}

func TestCommand(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	call := func(args ...string) (status int, out, errs string) {
		var o, e bytes.Buffer
		status = run(args, &o, &e)
		return status, o.String(), e.String()
	}
	for _, name := range []string{"requests", "sleeps"} {
		if status, out, errs := call("-gen", name, "-n", "300", "-seed", "5", file(name)); status != done || out != "" || errs != "" {
			t.Fatalf("-gen %s: %d, %q, %q", name, status, out, errs)
		}
	}
	status, out, errs := call("-sleeps", file("sleeps"), file("requests"))
	if status != done || errs != "" || !strings.HasPrefix(out, "timeouts: 300 scheduled, 0 moved, ") {
		t.Fatalf("%d, %q, %q", status, out, errs)
	}
	for _, s := range sides(true) {
		if !strings.Contains(out, "\n"+s.name+" ") {
			t.Errorf("no line for %s in %s", s.name, out)
		}
	}
	if _, out, _ := call(file("requests")); strings.Contains(out, "+") || strings.Contains(out, "sleeps:") {
		t.Errorf("one trace, and %s", out)
	}

	write := func(name, text string) string {
		if err := os.WriteFile(file(name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return file(name)
	}
	gif, cut := write("gif", "GIF89a"), write("cut", "bide timer trace 1\n\x01")
	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{
		{nil, misused, "replay: one file is wanted, 0 are given\n" + usage},
		{[]string{"a", "b"}, misused, "replay: one file is wanted, 2 are given\n" + usage},
		{[]string{"-x"}, misused, "replay: flag provided but not defined: -x\n" + usage},
		{[]string{"-n", "many", "a"}, misused, `replay: invalid value "many" for flag -n: parse error` + "\n" + usage},
		{[]string{"-n", "5", "a"}, misused, "replay: -n and -seed are for -gen\n" + usage},
		{[]string{"-gen", "dreams", "a"}, misused, "replay: -gen dreams: there are requests, idle and sleeps\n" + usage},
		{[]string{"-gen", "idle", "-n", "0", "a"}, misused, "replay: -n 0: from 1 to 50000000\n" + usage},
		{[]string{"-gen", "idle", "-sleeps", "b", "a"}, misused, "replay: -gen makes one trace, and has no use for -sleeps\n" + usage},
		{[]string{gif}, misused, "replay: " + gif + `: bide/timer/queue: trace: does not begin with "bide timer trace 1"` + "\n"},
		{[]string{cut}, misused, "replay: " + cut + ": bide/timer/queue: trace: operation 1: truncated\n"},
		{[]string{"-sleeps", cut, file("requests")}, misused, "replay: " + cut + ": bide/timer/queue: trace: operation 1: truncated\n"},
	} {
		if status, out, errs := call(c.args...); status != c.status || out != "" || errs != c.want {
			t.Errorf("%q: %d, %q, %q, want %d, %q", c.args, status, out, errs, c.status, c.want)
		}
	}
	if status, _, errs := call(file("none")); status != misused || !strings.Contains(errs, "none") {
		t.Errorf("no such file: %d, %q", status, errs)
	}
	if status, _, errs := call("-gen", "idle", file("no/such/dir")); status != failed || !strings.Contains(errs, "dir") {
		t.Errorf("a file that cannot be made: %d, %q", status, errs)
	}
	if status, out, errs := call("-h"); status != done || out != usage || errs != "" {
		t.Errorf("-h: %d, %q, %q", status, out, errs)
	}
}

// TestReport: an empty trace, and one that is too much for some.
func TestReport(t *testing.T) {
	var b bytes.Buffer
	report(&b, loaded(t, timeout, []byte("bide timer trace 1\n")))
	if !strings.Contains(b.String(), "0 operations in 0s; at most 0 pending") {
		t.Errorf("an empty trace: %s", b.String())
	}
	b.Reset()
	many, _ := queue.AppendHeader(make([]byte, 0, 1<<20))
	for id := range uint32(10_001) {
		many, _ = queue.AppendOp(many, 5, queue.Op{Kind: queue.Scheduled, ID: id, Now: 5, At: 9})
	}
	report(&b, loaded(t, timeout, many))
	if want := "\nlist-ordered        left out: meant for up to 10000\n"; !strings.Contains(b.String(), want) {
		t.Errorf("a big trace: %s", b.String())
	}
}
