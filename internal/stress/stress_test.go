package stress

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// notes is a test that notes what it is told.
type notes struct {
	testing.TB
	logged, fatal string
}

func (n *notes) Helper()                           {}
func (n *notes) Logf(format string, args ...any)   { n.logged = fmt.Sprintf(format, args...) }
func (n *notes) Fatalf(format string, args ...any) { n.fatal = fmt.Sprintf(format, args...); panic(n) }

// fatal returns what f's test ends with.
func fatal(f func(t testing.TB)) (text string) {
	n := &notes{}
	defer func() {
		if r := recover(); r != nil && r != any(n) {
			panic(r)
		}
		text = n.fatal
	}()
	f(n)
	return ""
}

func TestSeed(t *testing.T) {
	t.Setenv("BIDE_SEED", "")
	n := &notes{}
	if a, b := Seed(n), Seed(n); a == b || n.logged != fmt.Sprint("BIDE_SEED=", b) {
		t.Errorf("drawn: %d, then %d, logged %q", a, b, n.logged)
	}
	t.Setenv("BIDE_SEED", "7")
	if a := Source(n); Seed(n) != 7 || a(1).Uint64() != Source(n)(1).Uint64() || a(1).Uint64() == a(2).Uint64() {
		t.Error("the given seed gives other numbers, or all goroutines the same")
	}
	t.Setenv("BIDE_SEED", "x")
	if got := fatal(func(t testing.TB) { Seed(t) }); got != `BIDE_SEED="x" is not a number` {
		t.Errorf("fatal %q", got)
	}
}

func TestTime(t *testing.T) {
	t.Setenv("BIDE_STRESS", "1m")
	if d := Time(t); d != time.Minute {
		t.Error(d)
	}
	synctest.Test(t, func(t *testing.T) {
		lasts := Lasting(t, 2)
		time.Sleep(30*time.Second - 1)
		before := lasts()
		time.Sleep(1)
		if !before || lasts() {
			t.Errorf("a nanosecond before its end it lasts: %v; at its end: %v", before, lasts())
		}
	})
	t.Setenv("BIDE_STRESS", "")
	if d := Time(t); d != time.Second && d != time.Second/10 {
		t.Error(d)
	}
	t.Setenv("BIDE_STRESS", "x")
	if got := fatal(func(t testing.TB) { Time(t) }); got != `BIDE_STRESS="x" is not a time such as 1m` {
		t.Errorf("fatal %q", got)
	}
}
