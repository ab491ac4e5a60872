package pair

import (
	"fmt"
	"math"
	"testing"
)

func TestSpread(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   Spread
	}{
		{[]float64{7}, Spread{7, 7, 7}},
		{[]float64{3, 1}, Spread{1.5, 2, 2.5}},
		{[]float64{5, 1, 2, 4, 3}, Spread{2, 3, 4}},
		{[]float64{4, 1, 3, 2}, Spread{1.75, 2.5, 3.25}},
		{[]float64{1, 1, 1, 1, 1000}, Spread{1, 1, 1}},
		{[]float64{1, 2, math.Inf(1)}, Spread{1.5, 2, math.Inf(1)}},
	} {
		if got := spread(c.values); got != c.want {
			t.Errorf("spread(%v) = %v, want %v", c.values, got, c.want)
		}
	}
}

// A ratio is the median of the rounds' ratios: a round in which the whole machine was slow changes nothing.
func TestRatios(t *testing.T) {
	inf := math.Inf(1)
	got := ratios([]float64{10, 100, 30, 0, 5, 0}, []float64{5, 50, 15, 0, 0, 5})
	if want := []float64{2, 2, 2, 1, inf, 0}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestLates(t *testing.T) {
	late := make([]int64, 1000)
	for i := range late {
		late[i] = int64(1000 - i)
	}
	f := Lates(late)
	for p, want := range map[float64]float64{1: 10, 50: 500, 99: 990, 99.9: 999, 100: 1000} {
		if got := f[Late(p)]; got != want {
			t.Errorf("%v %% are at most %v late, want %v", p, got, want)
		}
	}
	if len(f) != len(Percents) {
		t.Errorf("%d figures", len(f))
	}
	if f := Lates([]int64{3}); f[Late(1)] != 3 || f[Late(100)] != 3 {
		t.Errorf("of one: %v", f)
	}
}

func TestRounded(t *testing.T) {
	for v, want := range map[float64]float64{0: 0, 0.0004: 0, 0.0012345678: 0.0012346, 1.00000001: 1, 123456789: 123460000, -7.654321: -7.6543} {
		if got := rounded(v); got != want {
			t.Errorf("rounded(%v) = %v, want %v", v, got, want)
		}
	}
}

func TestFormat(t *testing.T) {
	for _, c := range []struct {
		m    Metric
		v    float64
		want string
	}{
		{Ns, 3.274, "3.27 ns"},
		{Ns, 0.6, "0.6 ns"},
		{Ns, 35.46, "35.5 ns"},
		{Ns, 187.4, "187 ns"},
		{Ns, 999.7, "1 µs"},
		{CPU, 3290, "3.29 µs CPU"},
		{Late(99), 17.46e6, "17.5 ms late (p99)"},
		{Late(99.9), 1.72e9, "1.72 s late (p99.9)"},
		{Late(50), -300, "-300 ns late (p50)"},
		{Bytes, 0, "0 B"},
		{Bytes, 56.02, "56 B"},
		{Bytes, 1536, "1536 B"},
		{Allocs, 1, "1 allocs"},
		{Allocs, 0.004, "0 allocs"},
	} {
		if got := c.m.Format(c.v); got != c.want {
			t.Errorf("%s of %v is %q, want %q", c.m.Name, c.v, got, c.want)
		}
	}
}
