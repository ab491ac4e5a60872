package clock_test

import (
	"fmt"
	"math"
	"math/big"
	"testing"
	"time"

	"bide.invalid/bide/clock"
)

// corners are the values at which arithmetic of 64 bits goes wrong.
var corners = []int64{
	math.MinInt64, math.MinInt64 + 1, math.MinInt64 + 2, -1 << 62, -1<<62 - 1, -1e18, -1e9, -2, -1,
	0, 1, 2, 1e9, 1e18, 1<<62 - 1, 1 << 62, math.MaxInt64 - 2, math.MaxInt64 - 1, math.MaxInt64,
}

// saturated is the exact sum or difference, brought back into range.
func saturated(op func(z, x, y *big.Int) *big.Int, x, y int64) int64 {
	z := op(new(big.Int), big.NewInt(x), big.NewInt(y))
	switch {
	case z.IsInt64():
		return z.Int64()
	case z.Sign() > 0:
		return math.MaxInt64
	}
	return math.MinInt64
}

func TestAddSaturates(t *testing.T) {
	for _, x := range corners {
		for _, y := range corners {
			want := saturated((*big.Int).Add, x, y)
			if x == math.MaxInt64 {
				want = x // Forever stays
			}
			if got := clock.Instant(x).Add(time.Duration(y)); int64(got) != want {
				t.Errorf("Instant(%d).Add(%d) = %d, want %d", x, y, got, want)
			}
		}
	}
}

func TestSubSaturates(t *testing.T) {
	for _, x := range corners {
		for _, y := range corners {
			want := saturated((*big.Int).Sub, x, y)
			if x == math.MaxInt64 {
				want = x // Forever minus anything, Forever too
			}
			if got := clock.Instant(x).Sub(clock.Instant(y)); int64(got) != want {
				t.Errorf("Instant(%d).Sub(%d) = %d, want %d", x, y, got, want)
			}
		}
	}
}

// TestSubUndoesAdd holds wherever nothing saturated.
func TestSubUndoesAdd(t *testing.T) {
	for _, x := range corners {
		for _, y := range corners {
			i, d := clock.Instant(x), time.Duration(y)
			exact := new(big.Int).Add(big.NewInt(x), big.NewInt(y))
			if sum := i.Add(d); exact.IsInt64() && i != clock.Forever && sum != clock.Forever && sum.Sub(i) != d {
				t.Errorf("%d + %d - %d = %d", x, y, x, sum.Sub(i))
			}
		}
	}
}

func TestBefore(t *testing.T) {
	for _, x := range corners {
		for _, y := range corners {
			if got := clock.Instant(x).Before(clock.Instant(y)); got != (x < y) {
				t.Errorf("Instant(%d).Before(%d) = %v", x, y, got)
			}
		}
	}
}

func TestInstantString(t *testing.T) {
	for _, c := range []struct {
		i    clock.Instant
		want string
	}{
		{0, "0s"},
		{1, "1ns"},
		{clock.Instant(1500 * time.Millisecond), "1.5s"},
		{clock.Instant(-time.Second), "-1s"},
		{clock.Forever, "forever"},
		{clock.Forever - 1, "2562047h47m16.854775806s"},
		{math.MinInt64, "-2562047h47m16.854775808s"},
	} {
		if got := c.i.String(); got != c.want {
			t.Errorf("Instant(%d).String() = %q, want %q", int64(c.i), got, c.want)
		}
		if got := fmt.Sprint(c.i); got != c.want {
			t.Errorf("Sprint of Instant(%d): %q, want %q", int64(c.i), got, c.want)
		}
	}
}
