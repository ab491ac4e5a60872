package main

import (
	"strconv"
	"testing"
	"time"
)

// cilium#7720. A number without a unit was taken for nanoseconds. On the command line it is seconds, as for timeout(1),
// whatever its size; never less.
func TestReportCilium7720(t *testing.T) {
	for _, n := range []int{1, 5, 30, 1000, 86400, 1_000_000} {
		if d, err := parseDuration(strconv.Itoa(n)); err != nil || d != time.Duration(n)*time.Second {
			t.Errorf("%d is %v, %v", n, d, err)
		}
		o, err := parseRun([]string{"-k", strconv.Itoa(n), strconv.Itoa(n), "cmd"})
		if want := time.Duration(n) * time.Second; err != nil || o.limit != want || o.killAfter != want {
			t.Errorf("run %d: limit %v, kill after %v, %v", n, o.limit, o.killAfter, err)
		}
	}
}
