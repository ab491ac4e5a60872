package clock

import (
	"math"
	"testing"
	"testing/synctest"
	"time"
)

// TestFromKeepsTheSign: the sign of an instant says where it was read, whatever is added.
func TestFromKeepsTheSign(t *testing.T) {
	for _, c := range []struct {
		now  Instant
		d    time.Duration
		want Instant
	}{
		// outside
		{0, 0, 0},
		{0, 5, 5},
		{0, -1, 0},
		{0, math.MinInt64, 0},
		{7, -7, 0},
		{7, -8, 0},
		{7, math.MinInt64, 0},
		{7, math.MaxInt64, Forever},
		{7, math.MaxInt64 - 7, Forever},
		{7, math.MaxInt64 - 8, Forever - 1},
		{Forever, math.MinInt64, Forever},
		// in a bubble
		{-1, 0, -1},
		{-7, 6, -1},
		{-7, 7, Forever},
		{-7, 8, Forever},
		{-7, math.MaxInt64, Forever},
		{-7, -1, -8},
		{-7, math.MinInt64, math.MinInt64},
		{math.MinInt64, math.MinInt64, math.MinInt64},
		{math.MinInt64, math.MaxInt64, -1},
	} {
		if got := from(c.now, c.d); got != c.want {
			t.Errorf("from(%d, %d) = %d, want %d", c.now, c.d, got, c.want)
		}
	}
}

// TestBubbled: a negative reading is proof; after ten years of uptime time.Now is asked, too.
func TestBubbled(t *testing.T) {
	check := func(where string, now Instant, want bool) {
		t.Helper()
		if got := bubbled(now); got != want {
			t.Errorf("%s, reading %d: %v, want %v", where, now, got, want)
		}
	}
	for _, now := range []Instant{0, 1, Instant(decade), Instant(decade) + 1, Forever} {
		check("outside", now, false)
	}
	check("outside", -1, true) // cannot happen
	synctest.Test(t, func(*testing.T) {
		check("inside", Now(), true)
		check("inside", math.MinInt64, true)
		check("inside", Instant(decade)+1, true)
		check("inside", 1, false) // past the process's start by less than the decade: the gap that doc.go admits
	})
}

func TestMonotonicReading(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		name string
		t    time.Time
		want bool
	}{
		{"now", now, true},
		{"now and an hour", now.Add(time.Hour), true},
		{"elsewhere", now.In(time.FixedZone("elsewhere", 3600)), false},
		{"after 2157", now.Add(150 * 365 * 24 * time.Hour), false},
		{"rounded", now.Round(0), false},
		{"date", time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC), false},
		{"zero", time.Time{}, false},
		{"unix", time.Unix(1, 0), false},
	} {
		if got := monotonic(c.t); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		if monotonic(time.Now()) {
			t.Error("time.Now has a monotonic reading in a bubble: bubbled relies on its absence")
		}
	})
}
