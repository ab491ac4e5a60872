package wire

import (
	"math"
	"strings"
	"testing"
	"time"
)

var (
	noon   = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	linux  = reading{"boot-1", 1000 * time.Second, noon}
	reboot = reading{"boot-2", 5 * time.Second, noon}
	other  = reading{"", 0, noon}
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		value string
		now   reading
		left  time.Duration
		bad   string // a part of the error
	}{
		{"v1;boot=boot-1;boottime=1005000000000;wall=2026-03-01T13:00:00Z", linux, 5 * time.Second, ""}, // boottime counts
		{"v1;boot=boot-1;boottime=1005000000000;wall=2026-03-01T13:00:00Z", reboot, time.Hour, ""},
		{"v1;boot=boot-1;boottime=1005000000000;wall=2026-03-01T13:00:00Z", other, time.Hour, ""},
		{"v1;wall=2026-03-01T12:00:01.5Z", linux, 1500 * time.Millisecond, ""},
		{"v1;wall=2026-03-01T13:00:01.5+01:00", other, 1500 * time.Millisecond, ""},
		{"v1;boot=boot-1;boottime=999999999999;wall=2026-03-01T13:00:00Z", linux, -1, ""}, // passed
		{"v1;boot=boot-1;boottime=1000000000000;wall=2026-03-01T13:00:00Z", linux, 0, ""},
		{"v1;boot=boot-1;boottime=0;wall=2026-03-01T13:00:00Z", linux, -1000 * time.Second, ""},
		{"v1;wall=2026-03-01T11:59:59Z", other, -time.Second, ""},
		{"v1;wall=9999-12-31T23:59:59Z", other, math.MaxInt64, ""},
		{"v1;wall=0001-01-01T00:00:00Z", other, math.MinInt64, ""},
		{"v1;boot=boot-1;boottime=9223372036854775807;wall=2026-03-01T13:00:00Z", linux, math.MaxInt64 - 1000*time.Second, ""},
		{"v1;new=1;wall=2026-03-01T12:00:01Z;also=", linux, time.Second, ""},
		{"v1;wall=2026-03-01T12:00:01Z;boottime=1005000000000;boot=boot-1", linux, 5 * time.Second, ""},

		{"", linux, 0, "does not begin with v1"},
		{"5", linux, 0, "does not begin with v1"},
		{"v2;wall=2026-03-01T12:00:01Z", linux, 0, "does not begin with v1"},
		{"v1", linux, 0, "wall=TIME"},
		{"v1;", linux, 0, "a field without ="},
		{"v1;wall=soon", linux, 0, "wall=TIME"},
		{"v1;boot=boot-1;boottime=1005000000000", linux, 0, "wall=TIME"},
		{"v1;boot=boot-1;wall=2026-03-01T12:00:01Z", linux, 0, "has not both"},
		{"v1;boottime=5;wall=2026-03-01T12:00:01Z", linux, 0, "has not both"},
		{"v1;boot=;boottime=5;wall=2026-03-01T12:00:01Z", other, 0, "has not both"},
		{"v1;boot=boot-1;boottime=soon;wall=2026-03-01T12:00:01Z", linux, 0, "number of nanoseconds"},
		{"v1;boot=boot-1;boottime=-1;wall=2026-03-01T12:00:01Z", linux, 0, "number of nanoseconds"},
		{"v1;boot=boot-1;boottime=9223372036854775808;wall=2026-03-01T12:00:01Z", linux, 0, "number of nanoseconds"},
		{"v1;wall=2026-03-01T12:00:01Z;wall=2026-03-01T12:00:01Z", linux, 0, "wall twice"},
		{"v1;x=" + strings.Repeat("x", longest), linux, 0, "too long"},
	} {
		left, err := parse(c.value, c.now)
		switch {
		case c.bad == "" && (err != nil || left != c.left):
			t.Errorf("%q: %v, %v, want %v", c.value, left, err, c.left)
		case c.bad != "" && (err == nil || !strings.Contains(err.Error(), c.bad) || left != 0):
			t.Errorf("%q: %v, %v, want %q", c.value, left, err, c.bad)
		}
	}
}

func TestFormat(t *testing.T) {
	for _, c := range []struct {
		left time.Duration
		now  reading
		want string
	}{
		{5 * time.Second, linux, "v1;boot=boot-1;boottime=1005000000000;wall=2026-03-01T12:00:05Z"},
		{5*time.Second + 1, other, "v1;wall=2026-03-01T12:00:05.000000001Z"},
		{0, linux, "v1;boot=boot-1;boottime=1000000000000;wall=2026-03-01T12:00:00Z"},
		{-time.Hour, linux, "v1;boot=boot-1;boottime=0;wall=2026-03-01T11:00:00Z"},
		{math.MaxInt64 - 1, linux, "v1;boot=boot-1;boottime=9223372036854775807;wall=2318-06-11T11:47:16.854775806Z"},
		{time.Second, reading{wall: time.Date(9999, 12, 31, 23, 59, 59, 999, time.UTC)}, "v1;wall=9999-12-31T23:59:59Z"},
	} {
		if got := format(c.left, c.now); got != c.want {
			t.Errorf("%v: %q, want %q", c.left, got, c.want)
		}
		if _, err := parse(format(c.left, c.now), c.now); err != nil {
			t.Error(err)
		}
	}
}

// What one formats the other reads, to the nanosecond, whatever way it goes by.
func FuzzRoundTrip(f *testing.F) {
	f.Add(int64(0), int64(0), int64(0))
	f.Add(int64(5e9), int64(1e12), int64(1))
	f.Add(int64(math.MaxInt64), int64(math.MaxInt64), int64(math.MaxInt64))
	f.Fuzz(func(t *testing.T, left, since, later int64) {
		left, since, later = max(0, left), max(0, since), max(0, later)
		const century = int64(100 * 365 * 24 * time.Hour)
		left, since, later = left%century, since%century, later%century
		then := reading{"boot-1", time.Duration(since), noon}
		now := reading{"boot-1", time.Duration(since + later), noon.Add(time.Duration(later))}
		value := format(time.Duration(left), then)
		for _, boot := range []string{"boot-1", "boot-2", ""} {
			now.boot = boot
			if got, err := parse(value, now); err != nil || got != time.Duration(left-later) {
				t.Errorf("%q read by %q: %v, %v, want %v", value, boot, got, err, time.Duration(left-later))
			}
		}
	})
}

// Whatever the value, it is a duration or an error, and a bounded one.
func FuzzParse(f *testing.F) {
	f.Add("v1;boot=boot-1;boottime=1005000000000;wall=2026-03-01T13:00:00Z")
	f.Add("v1;wall=2026-03-01T12:00:01.5Z")
	f.Add("v1;wall=2026-03-01T12:00:01Z;;=")
	f.Add("")
	f.Fuzz(func(t *testing.T, value string) {
		left, err := parse(value, linux)
		if err != nil {
			if left != 0 || len(err.Error()) > 6*longest {
				t.Errorf("%q: %v with an error of %d bytes", value, left, len(err.Error()))
			}
			return
		}
		if again, err := parse(format(max(0, left), linux), linux); err != nil || again != max(0, left) && left < math.MaxInt64-linux.boottime {
			t.Errorf("%q: %v, and again %v, %v", value, left, again, err)
		}
	})
}

func TestBoottime(t *testing.T) {
	r := now()
	if r.boot == "" {
		t.Skip("SKIPPED: no boottime on this system")
	}
	if again := now(); again.boot != r.boot || again.boottime < r.boottime || r.boottime <= 0 {
		t.Errorf("%+v, then %+v", r, again)
	}
	if strings.ContainsAny(r.boot, ";= \n") || len(r.boot) != 36 {
		t.Errorf("boot id %q", r.boot)
	}
}
