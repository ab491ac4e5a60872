package main

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"bide.invalid/bide"
)

func TestSpanVerdict(t *testing.T) {
	const due = 100 * time.Millisecond
	for _, c := range []struct {
		s    span
		want string
	}{
		{span{"", due, due}, "[]"},
		{span{"", due, due + forgiven}, "[]"},
		{span{"", due, due - 1}, "[it ended 0.000001 ms early: due 100 ms, ended after 99.999999 ms]"},
		{span{"work", due, due + forgiven + time.Microsecond}, "[work ended 500.001 ms late: due 100 ms, ended after 600.001 ms]"},
		{span{"", due, 0}, "[it ended 100 ms early: due 100 ms, ended after 0 ms]"},
	} {
		if got := fmt.Sprint(c.s.verdict()); got != c.want {
			t.Errorf("%v: %s, want %s", c.s, got, c.want)
		}
	}
}

func TestTiming(t *testing.T) {
	got := timing([]span{{"work", time.Second, time.Second + 1499}, {"", time.Millisecond, time.Millisecond - 1}})
	if want := ": work due 1000 ms, late 0.001 ms; due 1 ms, early 0.000001 ms"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestTimedOut(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{&bide.TimeoutError{}, "[]"},
		{fmt.Errorf("upload: %w", &bide.TimeoutError{}), "[]"},
		{nil, "[it returned <nil>, where a *bide.TimeoutError is due]"},
		{context.DeadlineExceeded, "[it returned context deadline exceeded, where a *bide.TimeoutError is due]"},
		{&bide.Canceled{Source: bide.ByDeadline}, "[it returned bide: canceled by deadline, where a *bide.TimeoutError is due]"},
		{errors.New("no"), "[it returned no, where a *bide.TimeoutError is due]"},
	} {
		if got := fmt.Sprint(timedOut("it", c.err)); got != c.want {
			t.Errorf("%v: %s, want %s", c.err, got, c.want)
		}
	}
}
