package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"bide.invalid/bide/bench/internal/pair"
)

// steady is a table in which nothing grows, but for some change in each of its rows.
func steady(change func(i int, r *row)) []row {
	all := make([]row, rows)
	for i := range all {
		all[i] = row{at: time.Duration(i) * time.Second, expired: 10, heap: 10 * mega, taken: 30 * mega, pending: 90, goroutines: 5,
			late: pair.Figures{pair.Late(50): 1e6, pair.Late(99): 5e6}}
		change(i, &all[i])
	}
	return all
}

func TestCompare(t *testing.T) {
	last := func(i int) bool { return i >= rows-third }
	for _, c := range []struct {
		want   string
		change func(i int, r *row)
	}{
		{"", func(int, *row) {}},
		{"", func(i int, r *row) { r.heap += uint64(i) * mega / 20 }},
		{"live heap grew from 10.0 MB in the first third to 12.0 MB in the last", func(i int, r *row) {
			if last(i) {
				r.heap += 2 * mega
			}
		}},
		{"live heap grew from 10.8 MB in the first third to 14.8 MB in the last", func(i int, r *row) { r.heap += uint64(i) * mega / 2 }},
		{"memory from the system grew from 30.0 MB in the first third to 60.0 MB in the last", func(i int, r *row) {
			if last(i) {
				r.taken *= 2
			}
		}},
		{"goroutines grew from 5 in the first third to 205 in the last", func(i int, r *row) {
			if last(i) {
				r.goroutines += 200
			}
		}},
		{"lateness (p50) grew from 1 ms in the first third to 5 ms in the last", func(i int, r *row) {
			if last(i) {
				r.late[pair.Late(50)] *= 5
			}
		}},
		{"lateness (p99) grew from 5 ms in the first third to 50 ms in the last", func(i int, r *row) {
			if last(i) {
				r.late[pair.Late(99)] *= 10
			}
		}},
		{"", func(i int, r *row) { // one bad moment is none of a third
			if i == rows-1 {
				r.late[pair.Late(99)] *= 100
			}
		}},
		{"101 entries were pending of 100 connections", func(i int, r *row) {
			if i == 5 {
				r.pending = 101
			}
		}},
		{"nothing expired in the row that ended at 7s", func(i int, r *row) {
			if i >= 7 {
				r.expired = 0
			}
		}},
	} {
		got := strings.Join(plan{conns: 100}.compare(steady(c.change)), "; ")
		if got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestMisused(t *testing.T) {
	for args, want := range map[string]string{
		"-d 1ms":    "bide soak: -d 1ms: at least a second is wanted\n",
		"-n 0":      "bide soak: -n 0: at least one connection is wanted\n",
		"10m":       "bide soak: no argument is wanted, [\"10m\"] is given\n",
		"-d minute": "usage: soak [-d 5m]",
	} {
		var stdout, stderr bytes.Buffer
		status := run(strings.Fields(args), &stdout, &stderr)
		if status != 2 || !strings.Contains(stderr.String(), want) || stdout.Len() > 0 {
			t.Errorf("soak %s: status %d, %q, %q; want %q", args, status, stdout.String(), stderr.String(), want)
		}
	}
	var stdout, stderr bytes.Buffer
	if status := run([]string{"-h"}, &stdout, &stderr); status != 0 || stderr.String() != usage {
		t.Errorf("soak -h: status %d, %q", status, stderr.String())
	}
}

// A short one: memory stays, no timeout comes early, nothing is left behind. How late they are is the machine's affair.
func TestSoakRealTime(t *testing.T) {
	var stdout, stderr bytes.Buffer
	status := run([]string{"-d", "1200ms", "-n", "500"}, &stdout, &stderr)
	wrong := slices.DeleteFunc(strings.Split(strings.TrimSpace(stderr.String()), "\n"), func(line string) bool {
		return line == "" || strings.HasPrefix(line, "bide soak: lateness")
	})
	if len(wrong) > 0 {
		t.Errorf("%s\n%s", strings.Join(wrong, "\n"), stdout.String())
	}
	if failed := stderr.Len() > 0; (status == 1) != failed || status > 1 {
		t.Errorf("status %d, %q", status, stderr.String())
	}
	if n := strings.Count(stdout.String(), "\n"); n < rows+2 {
		t.Errorf("%d lines:\n%s", n, stdout.String())
	}
}

// Each connection that is opened expires at most once, and most that expire are opened anew.
func TestCountsRealTime(t *testing.T) {
	p := plan{length: 600 * time.Millisecond, conns: 200}
	pushed, expired, opened := 0, 0, 0
	all, _ := p.run(func(r row) {
		pushed, expired, opened = pushed+r.pushed, expired+r.expired, opened+r.opened
	})
	if len(all) != rows || pushed == 0 || opened == 0 || expired > opened+p.conns || expired < opened-p.conns {
		t.Errorf("%d rows; %d pushed, %d expired, %d opened anew", len(all), pushed, expired, opened)
	}
}
