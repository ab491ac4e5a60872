package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
)

// played is a scene whose measurement is known beforehand.
func played(s scene, m measure) scene {
	s.play = func(context.Context) measure { return m }
	return s
}

var (
	keptLock = lockMeasure{
		wait:  span{due: lockBound, took: lockBound + 1234567},
		err:   &bide.TimeoutError{Limit: lockBound, Elapsed: lockBound + 1234567},
		clean: true,
	}
	earlyLock = lockMeasure{span{due: lockBound, took: lockBound - 1}, keptLock.err, true}
)

func TestTour(t *testing.T) {
	lock := played(lockScene(), keptLock)
	early := played(lockScene(), earlyLock)
	early.name = "early"
	unplayed := played(dripScene(), dripMeasure{setup: context.Canceled})
	for _, c := range []struct {
		name   string
		scenes []scene
		args   []string
		code   int
		want   string
		not    string
	}{
		{"all kept", []scene{lock, lock}, nil, exitKept, "\nkept     2 scenes in ", "BROKEN"},
		{"one by name", []scene{early, lock}, []string{"lock"}, exitKept, "\nkept     1 scene in ", "early"},
		{"several by name", []scene{lock, early}, []string{"early", "lock"}, exitBroken, "\nBROKEN   1 of 2 scenes broke a promise.\n", "every promise"},
		{"one broken", []scene{lock, early, lock}, nil, exitBroken, "\nBROKEN   early: it ended 0.000001 ms early: due 300 ms, ended after 299.999999 ms\n" +
			"         early: due 300 ms, early 0.000001 ms\n", "every promise"},
		{"the others are played all the same", []scene{early, lock}, nil, exitBroken, "\nkept     lock: due 300 ms, late 1.235 ms\n", ""},
		{"not played", []scene{unplayed}, nil, exitBroken, "\nBROKEN   drip: it could not be played: context canceled\n\n", "due 600 ms"},
	} {
		var stdout, stderr bytes.Buffer
		code := tour{c.scenes, tourLimit}.run(c.args, &stdout, &stderr)
		out := stdout.String()
		if code != c.code || stderr.Len() > 0 {
			t.Errorf("%s: exit code %d, want %d; error text %q", c.name, code, c.code, &stderr)
		}
		if !strings.Contains(out, c.want) || c.not != "" && strings.Contains(out, c.not) {
			t.Errorf("%s: want %q and not %q in\n%s", c.name, c.want, c.not, out)
		}
	}
}

func TestTourText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // where it takes exactly no time
		var stdout bytes.Buffer
		tour{[]scene{played(lockScene(), keptLock)}, tourLimit}.run(nil, &stdout, &stdout)
		const want = `         What usually goes wrong with timeouts, and what bide does about it. Measured here and now.

lock     Somebody holds a mutex, and never lets go.
         err := bide.FailAfter(ctx, 300*time.Millisecond, mu.Lock)
         sync.Mutex would wait for ever. This one gave up, and took nothing: once released, it was free.
kept     lock: due 300 ms, late 1.235 ms

kept     1 scene in 0.0 s, every promise kept.
`
		if stdout.String() != want {
			t.Errorf("got\n%s\nwant\n%s", &stdout, want)
		}
	})
}

// The tour ends whatever happens: a scene that hangs is given up, and no other is played beside it.
func TestTourHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		hangs := scene{name: "hangs", play: func(context.Context) measure {
			<-release
			return keptLock
		}}
		start := time.Now()
		var stdout bytes.Buffer
		code := tour{[]scene{hangs, played(lockScene(), keptLock)}, tourLimit}.run(nil, &stdout, &stdout)
		if took := time.Since(start); code != exitBroken || took != tourLimit {
			t.Errorf("exit code %d after %v", code, took)
		}
		out := stdout.String()
		if !strings.Contains(out, "\nBROKEN   hangs: it has not ended after 14000 ms: given up, and the tour with it\n\n") || strings.Contains(out, "lock") {
			t.Errorf("got\n%s", out)
		}
		close(release)
	})
}

// testVerdict wants no fault, or exactly one that contains want.
func testVerdict(t *testing.T, name string, m measure, want string) {
	t.Helper()
	got := m.verdict()
	if want == "" && len(got) > 0 || want != "" && (len(got) != 1 || !strings.Contains(got[0], want)) {
		t.Errorf("%s: verdict %q, want %q", name, got, want)
	}
}

// testScene plays a scene in a bubble, where its time takes none and nothing else runs.
func testScene(t *testing.T, s scene) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m := s.play(t.Context())
		testVerdict(t, s.name, m, "")
		if len(m.story()) == 0 || len(m.story()) > 2 || len(m.spans()) == 0 {
			t.Errorf("story %q, spans %v", m.story(), m.spans())
		}
	})
}
