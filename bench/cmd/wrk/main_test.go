package main

import (
	"strings"
	"testing"
)

func TestRate(t *testing.T) {
	const report = `Running 1s test @ http://127.0.0.1:8080/
  1 threads and 2 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency    75.44us   73.15us   1.64ms   95.75%
  21876 requests in 1.10s, 2.71MB read
Requests/sec:  19893.12
Transfer/sec:      2.47MB
`
	if r, err := rate(report); r != 19893.12 || err != nil {
		t.Error(r, err)
	}
	for bad, want := range map[string]string{
		"":                                 "says nothing of requests",
		"unable to connect to 127.0.0.1:1": "says nothing of requests",
		"Requests/sec: none":               "says nothing of requests",
		report + "  Non-2xx or 3xx responses: 7\n":               "Non-2xx or 3xx responses: 7",
		"  Socket errors: connect 0, read 3, write 0\n" + report: "Socket errors: connect 0, read 3",
	} {
		if r, err := rate(bad); err == nil || !strings.Contains(err.Error(), want) || r != 0 {
			t.Errorf("%q: %v, %v", bad, r, err)
		}
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		x    []float64
		want float64
	}{{[]float64{7}, 7}, {[]float64{3, 1}, 2}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 3, 2}, 2.5}} {
		if got := median(c.x); got != c.want {
			t.Errorf("%v: %v", c.x, got)
		}
	}
}
