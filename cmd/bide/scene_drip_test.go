package main

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"

	"bide.invalid/bide"
)

// A socket is nothing that a bubble can wait for.
func TestDripInRealTime(t *testing.T) {
	if testing.Short() {
		t.Skip("plays with real sockets and real time, two seconds; left out by -short")
	}
	forgive(t)
	testVerdict(t, "drip", dripScene().play(t.Context()), "")
}

func TestDripVerdict(t *testing.T) {
	for _, c := range []struct {
		name string
		hurt func(*dripMeasure)
		want string
	}{
		{"kept", func(*dripMeasure) {}, ""},
		{"early", func(m *dripMeasure) { m.bounded.took = m.bounded.due - 1 }, "early"},
		{"late", func(m *dripMeasure) { m.bounded.took = m.bounded.due + forgiven + 1 }, "late"},
		{"no error", func(m *dripMeasure) { m.boundedErr = nil }, "FailAfter around the download returned <nil>"},
		{"the connection's error", func(m *dripMeasure) { m.boundedErr = net.ErrClosed }, "returned use of closed network connection"},
		{"no drip", func(m *dripMeasure) { m.boundedBytes = 0 }, "not a byte arrived"},
		{"the read timeout struck", func(m *dripMeasure) { m.patientErr = os.ErrDeadlineExceeded }, "were not defeated: 25 bytes in 1200 ms, error i/o timeout"},
		{"the server hung up", func(m *dripMeasure) { m.patientBytes, m.patientErr = 3, io.EOF }, "were not defeated: 3 bytes in 1200 ms, error EOF"},
		{"too short to prove a thing", func(m *dripMeasure) { m.patient = dripBound }, "were not defeated: 25 bytes in 600 ms"},
		{"not played", func(m *dripMeasure) { *m = dripMeasure{setup: errors.New("no loopback")} }, "it could not be played: no loopback"},
	} {
		m := dripMeasure{
			bounded:      span{due: dripBound, took: dripBound + 1},
			boundedBytes: 12,
			boundedErr:   &bide.TimeoutError{},
			patient:      2 * dripBound,
			patientBytes: dripEnough,
		}
		c.hurt(&m)
		testVerdict(t, c.name, m, c.want)
	}
}
