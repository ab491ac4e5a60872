package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"bide.invalid/bide"
)

// A span is how long something was to take, and how long it took.
type span struct {
	what      string // may be empty, where a scene has only one
	due, took time.Duration
}

// forgiven is the lateness that a busy machine is allowed. Nothing is allowed to be early. Tests in real time allow more.
var forgiven = 500 * time.Millisecond

func (s span) late() time.Duration { return s.took - s.due }

// verdict says so if it came early, or far too late.
func (s span) verdict() []string {
	what := s.what
	if what == "" {
		what = "it"
	}
	switch {
	case s.late() < 0:
		return []string{fmt.Sprintf("%s ended %s early: due %s, ended after %s", what, ms(-s.late()), ms(s.due), ms(s.took))}
	case s.late() > forgiven:
		return []string{fmt.Sprintf("%s ended %s late: due %s, ended after %s", what, ms(s.late()), ms(s.due), ms(s.took))}
	}
	return nil
}

// timing is the spans in a line.
func timing(spans []span) string {
	if len(spans) == 0 {
		return ""
	}
	var parts []string
	for _, s := range spans {
		when := "late " + ms(s.late().Round(time.Microsecond))
		if s.late() < 0 {
			when = "early " + ms(-s.late())
		}
		parts = append(parts, strings.TrimSpace(s.what+" due "+ms(s.due)+", "+when))
	}
	return ": " + strings.Join(parts, "; ")
}

// timedOut says so if err, the result of what, is not a timeout that package errors and old callers recognize.
func timedOut(what string, err error) []string {
	var late *bide.TimeoutError
	if !errors.As(err, &late) || !errors.Is(err, context.DeadlineExceeded) {
		return []string{fmt.Sprintf("%s returned %v, where a *bide.TimeoutError is due", what, err)}
	}
	return nil
}

// ms is d in milliseconds, to the last digit.
func ms(d time.Duration) string {
	return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', -1, 64) + " ms"
}

// inGo is d as one writes it in Go.
func inGo(d time.Duration) string { return fmt.Sprintf("%d*time.Millisecond", d.Milliseconds()) }
