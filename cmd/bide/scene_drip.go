package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"time"

	"bide.invalid/bide"
)

func dripScene() scene {
	return scene{
		name:    "drip",
		trouble: fmt.Sprintf("A server sends a byte every %s: no single read ever times out.", ms(dripEvery)),
		code:    "err := bide.FailAfter(ctx, " + inGo(dripBound) + ", download)",
		play:    func(ctx context.Context) measure { return playDrip(ctx) },
	}
}

const (
	dripEvery  = 50 * time.Millisecond
	dripBound  = 600 * time.Millisecond // of each read by the one client, of everything by the other
	dripEnough = 25                     // bytes after which the one without a bound has made its point
)

type dripMeasure struct {
	bounded      span  // the client under FailAfter
	boundedBytes int64 // which it got
	boundedErr   error // which FailAfter returned

	patient      time.Duration // how long the client with a timeout for each read went on
	patientBytes int
	patientErr   error

	setup error // what kept the scene from being played
}

func playDrip(ctx context.Context) dripMeasure {
	m := dripMeasure{bounded: span{due: dripBound}}
	m.setup = bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		n.Go(func(ctx context.Context) error { return serve(ctx, n, l) })
		defer n.Cancel(nil) // the server

		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			return err
		}
		start := time.Now()
		m.patientBytes, m.patientErr = downloadPatiently(conn)
		m.patient = time.Since(start)

		if conn, err = net.Dial("tcp", l.Addr().String()); err != nil {
			return err
		}
		start = time.Now()
		m.boundedErr = bide.FailAfter(ctx, dripBound, func(ctx context.Context) (err error) {
			m.boundedBytes, err = download(ctx, conn)
			return err
		})
		m.bounded.took = time.Since(start)
		return nil
	})
	return m
}

// download reads until the server has no more, or ctx is canceled.
func download(ctx context.Context, conn net.Conn) (int64, error) {
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	n, err := io.Copy(io.Discard, conn)
	if err != nil {
		err = cmp.Or(bide.Check(ctx), err) // the closed connection is only how it came to be
	}
	return n, err
}

// downloadPatiently gives each read a timeout. It stops at dripEnough, or nobody would see the end of it.
func downloadPatiently(conn net.Conn) (n int, err error) {
	defer conn.Close()
	for buf := make([]byte, 1); n < dripEnough && err == nil; {
		var got int
		if err = conn.SetReadDeadline(time.Now().Add(dripBound)); err == nil {
			got, err = conn.Read(buf)
			n += got
		}
	}
	return n, err
}

// serve drips into every connection.
func serve(ctx context.Context, n *bide.Nursery, l net.Listener) error {
	defer context.AfterFunc(ctx, func() { l.Close() })()
	for {
		conn, err := l.Accept()
		if err != nil {
			return cmp.Or(bide.Check(ctx), err)
		}
		n.Go(func(ctx context.Context) error { return drip(ctx, conn) })
	}
}

func drip(ctx context.Context, conn net.Conn) error {
	defer conn.Close()
	for {
		if _, err := conn.Write([]byte{'.'}); err != nil {
			return nil // the client has left
		}
		if err := bide.Sleep(ctx, dripEvery); err != nil {
			return err
		}
	}
}

func (m dripMeasure) spans() []span {
	if m.setup != nil {
		return nil
	}
	return []span{m.bounded}
}

func (m dripMeasure) story() []string {
	return []string{
		fmt.Sprintf("SetReadDeadline, %s before each read: still going on after %.1f s and %d bytes.", ms(dripBound), m.patient.Seconds(), m.patientBytes),
		fmt.Sprintf("FailAfter, with a context.AfterFunc that closes the connection: over, with %d bytes.", m.boundedBytes),
	}
}

func (m dripMeasure) verdict() []string {
	if m.setup != nil {
		return []string{fmt.Sprintf("it could not be played: %v", m.setup)}
	}
	broken := m.bounded.verdict()
	broken = append(broken, timedOut("FailAfter around the download", m.boundedErr)...)
	if m.boundedBytes == 0 {
		broken = append(broken, "under FailAfter not a byte arrived, so there was no drip to be ended")
	}
	if m.patientErr != nil || m.patientBytes < dripEnough || m.patient <= dripBound {
		broken = append(broken, fmt.Sprintf("timeouts of %s for each read were not defeated: %d bytes in %s, error %v",
			ms(dripBound), m.patientBytes, ms(m.patient), m.patientErr))
	}
	return broken
}
