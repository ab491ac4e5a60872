//go:build bidestep

package step

import (
	"bytes"
	"os"
	"os/exec"
	"testing"
)

func TestOn(t *testing.T) {
	if !On {
		t.Error("steps are not compiled in")
	}
	before := taken.Load()
	At("test.one")
	At("test.two")
	if got := taken.Load() - before; got != 2 {
		t.Errorf("%d steps taken, want 2", got)
	}
}

// TestDecide: the same seed decides the same, another one something else; each kind of decision is made about as often
// as At's comment says.
func TestDecide(t *testing.T) {
	const n = 10_000
	for _, seed := range []uint64{0, 1, 2, 1 << 63, 1<<64 - 1} {
		goesOn, yields, rests, same := 0, 0, 0, 0
		for i := range uint64(n) {
			d := decide(seed, i)
			if decide(seed, i) != d {
				t.Fatal("the same step of the same seed was decided in two ways")
			}
			if decide(seed+1, i) == d {
				same++
			}
			switch {
			case d < 160:
				goesOn++
			case d < 248:
				yields++
			default:
				rests++
			}
		}
		near := func(got, of256 int) bool { return got > n*of256/256*8/10-20 && got < n*of256/256*12/10+20 }
		if !near(goesOn, 160) || !near(yields, 88) || !near(rests, 8) || same > n/64 {
			t.Errorf("seed %d: of %d goes on %d times, yields %d, rests %d; the next seed decides %d alike", seed, n, goesOn, yields, rests, same)
		}
	}
}

// TestSeed: the environment's seed is taken, and printed; without one another each time.
func TestSeed(t *testing.T) {
	if os.Getenv("BIDE_STEP_TEST") != "" {
		At("test.seed")
		return
	}
	run := func(env string) string {
		t.Helper()
		cmd := exec.Command(os.Args[0], "-test.run=^TestSeed$")
		cmd.Env = append(os.Environ(), "BIDE_STEP_TEST=1", env)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		line, _, _ := bytes.Cut(out, []byte("\n"))
		return string(line)
	}
	if got, want := run("BIDE_STEP_SEED=7"), "bide: steps scheduled with BIDE_STEP_SEED=7"; got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
	if a, b := run("BIDE_STEP_SEED="), run("BIDE_STEP_SEED="); a == b {
		t.Errorf("two runs print %q", a)
	}
}
