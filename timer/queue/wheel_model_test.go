package queue

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"bide.invalid/bide/clock"
)

// distance draws a non-negative number of any size: the number of its bits first.
func distance(t *rapid.T, what string) int64 {
	bits := rapid.IntRange(0, 63).Draw(t, what+" bits")
	return rapid.Int64Range(0, 1<<bits-1).Draw(t, what)
}

// TestWheelModel: random operations on eight entries, over all distances and uptimes, against an ordered list.
func TestWheelModel(t *testing.T) {
	for _, shift := range []uint8{0, 1, coarse} {
		rapid.Check(t, func(t *rapid.T) { wheelModel(t, shift) })
	}
}

func wheelModel(t *rapid.T, shift uint8) {
	const n = 8
	w := Wheel[int]{shift: shift, open: overdue, base: distance(t, "uptime") >> shift}
	last := int64(clock.Forever) >> shift
	now := w.base // a tick
	var r ref
	var e [n]Node[int]
	var due [n]clock.Instant
	who := func(p *Node[int]) (int, clock.Instant) {
		for id := range e {
			if p == &e[id] {
				return id, due[id]
			}
		}
		panic("an entry that nobody linked")
	}
	link := func(id int, at clock.Instant) {
		due[id] = at
		r.link(id, max(w.tick(at), w.base))
		if look := w.Link(&e[id], at); look > w.instant(max(w.tick(at), w.base)) {
			t.Fatalf("look at %d for a deadline of %d", look, at)
		}
	}
	linked := func(t *rapid.T, want bool) int {
		var ids []int
		for id := range e {
			if (e[id].next != nil) == want {
				ids = append(ids, id)
			}
		}
		if len(ids) == 0 {
			t.Skip("no entry for it")
		}
		return rapid.SampledFrom(ids).Draw(t, "entry")
	}
	// deadline draws near and far ones, past ones, and often one of those that are linked.
	deadline := func(t *rapid.T) clock.Instant {
		base := w.instant(w.base)
		switch rapid.IntRange(0, 4).Draw(t, "kind") {
		case 0:
			return due[rapid.IntRange(0, n-1).Draw(t, "like")]
		case 1:
			return clock.Instant(distance(t, "anywhere"))
		case 2:
			return min(clock.Forever-1, base+clock.Instant(rapid.Int64Range(-200, 200).Draw(t, "near"))<<shift>>1)
		}
		d := clock.Instant(distance(t, "ahead"))
		return min(clock.Forever-1, max(base, base+d)) // the sum may wrap
	}
	expire := func(limit int) {
		want := r.expire(max(now, w.base), limit)
		got, err := expire(&w, now, limit, who)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("at %d expired %v, want %v", now, got, want)
		}
	}
	t.Repeat(map[string]func(*rapid.T){
		"link": func(t *rapid.T) { link(linked(t, false), deadline(t)) },
		"unlink": func(t *rapid.T) {
			id := linked(t, true)
			w.Unlink(&e[id])
			r.unlink(id)
		},
		"move": func(t *rapid.T) {
			id := linked(t, true)
			w.Unlink(&e[id])
			r.unlink(id)
			link(id, deadline(t))
		},
		"expire": func(t *rapid.T) {
			d := distance(t, "later") >> shift
			now = min(last, max(now, now+d))
			expire(n)
		},
		"look": func(t *rapid.T) { // as the alarm does: no further than the next look
			if at, ok := w.next(); ok && at <= last {
				now = max(now, at)
				expire(n)
			}
		},
		"forward": func(t *rapid.T) {
			d := distance(t, "by") >> shift
			if to := max(now, now+d); to <= last {
				now = to
				w.forward(now)
			}
		},
		"": func(t *rapid.T) {
			if w.count != len(r) {
				t.Fatalf("%d are linked, want %d", w.count, len(r))
			}
			if err := checkWheel(&w, func(e *Node[int]) clock.Instant { _, d := who(e); return d }); err != nil {
				t.Fatal(err)
			}
		},
	})
}
