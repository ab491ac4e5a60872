package wire

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// reading is what the clocks say at a moment.
type reading struct {
	boot     string // empty if the system has no boottime
	boottime time.Duration
	wall     time.Time
}

// now reads the clocks.
func now() reading {
	r := reading{wall: time.Now()}
	r.boot, r.boottime = boottime()
	return r
}

const (
	version  = "v1"
	keyBoot  = "boot"
	keyTime  = "boottime"
	keyWall  = "wall"
	longest  = 256 // bytes of a value
	lastYear = 9999
)

// format writes the deadline that is left from now.
func format(left time.Duration, now reading) string {
	wall := now.wall.Round(0).Add(left).UTC()
	if wall.Year() > lastYear { // RFC 3339 has no more
		wall = time.Date(lastYear, 12, 31, 23, 59, 59, 0, time.UTC)
	}
	value := version
	if now.boot != "" {
		value += ";" + keyBoot + "=" + now.boot + ";" + keyTime + "=" + strconv.FormatInt(int64(plus(now.boottime, left)), 10)
	}
	return value + ";" + keyWall + "=" + wall.Format(time.RFC3339Nano)
}

// parse reads what format wrote.
func parse(value string, now reading) (left time.Duration, err error) {
	if len(value) > longest {
		return 0, fmt.Errorf("%d bytes are too long for a deadline", len(value))
	}
	fields := strings.Split(value, ";")
	if fields[0] != version {
		return 0, fmt.Errorf("%q does not begin with %s", value, version)
	}
	has := map[string]string{}
	for _, f := range fields[1:] {
		key, text, ok := strings.Cut(f, "=")
		if !ok {
			return 0, fmt.Errorf("%q has a field without =: %q", value, f)
		}
		if _, twice := has[key]; twice {
			return 0, fmt.Errorf("%q has the field %s twice", value, key)
		}
		has[key] = text
	}
	wall, err := time.Parse(time.RFC3339Nano, has[keyWall])
	if err != nil {
		return 0, fmt.Errorf("%q has no wall=TIME of RFC 3339", value)
	}
	boot, hasBoot := has[keyBoot]
	text, hasTime := has[keyTime]
	if hasBoot != hasTime || hasBoot && boot == "" {
		return 0, fmt.Errorf("%q has not both, boot=ID and boottime=NANOSECONDS", value)
	}
	if hasTime {
		due, err := strconv.ParseInt(text, 10, 64)
		if err != nil || due < 0 {
			return 0, fmt.Errorf("%q has no number of nanoseconds in boottime", value)
		}
		if boot == now.boot {
			return time.Duration(due) - now.boottime, nil // both are at least 0
		}
	}
	return wall.Sub(now.wall), nil // which saturates
}

// plus saturates. It never returns less than 0: a deadline before the machine's start has passed, as the start has.
func plus(a, b time.Duration) time.Duration {
	if b > 0 && a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return max(0, a+b)
}
