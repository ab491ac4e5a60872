package httpio

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"time"
)

// What a handler writes goes straight on; the exchange only sees that it does.

// writer is the handler's.
func (e *exchange) writer(r *http.Request) http.ResponseWriter {
	if r.ProtoMajor == 1 {
		e.h1.exchange = e
		return &e.h1
	}
	return e
}

// Unwrap is for http.ResponseController.
func (e *exchange) Unwrap() http.ResponseWriter { return e.ResponseWriter }

// SetWriteDeadline is what http.ResponseController calls.
func (e *exchange) SetWriteDeadline(t time.Time) error {
	e.moved.Store(true)
	return http.NewResponseController(e.ResponseWriter).SetWriteDeadline(t)
}

// EnableFullDuplex likewise.
func (e *exchange) EnableFullDuplex() error {
	err := http.NewResponseController(e.ResponseWriter).EnableFullDuplex()
	e.duplex = e.duplex || err == nil
	return err
}

func (e *exchange) WriteHeader(status int) {
	if status >= 200 || status == http.StatusSwitchingProtocols { // others come before the answer
		e.wrote = true
	}
	e.ResponseWriter.WriteHeader(status)
}

// buffered is how much a server of package net/http keeps, of either version, until the handler returns or flushes: to
// write that never blocks.
const buffered = 2 << 10

// write is before n bytes of the answer, of which there may be none.
func (e *exchange) write(n int) {
	e.wrote = true
	e.push(n)
}

// push is before what may block, as n bytes would.
func (e *exchange) push(n int) {
	if e.written += int32(min(n, buffered+1)); e.written > buffered {
		e.written = buffered
		e.arm()
	}
}

func (e *exchange) Write(p []byte) (int, error) {
	e.write(len(p))
	return e.ResponseWriter.Write(p)
}

func (e *exchange) WriteString(s string) (int, error) {
	e.write(len(s))
	return io.WriteString(e.ResponseWriter, s)
}

func (e *exchange) Flush() { _ = e.FlushError() }

// FlushError is what http.ResponseController calls. Where it is not supported, nothing was written.
func (e *exchange) FlushError() error {
	e.push(buffered + 1)
	err := http.NewResponseController(e.ResponseWriter).Flush()
	if !errors.Is(err, http.ErrNotSupported) {
		e.wrote = true
	}
	return err
}

// writer1 is that of HTTP/1.
type writer1 struct{ *exchange }

// ReadFrom has io.Copy find the server's own way, such as sendfile. Where there was nothing to copy, nothing was written.
func (w *writer1) ReadFrom(r io.Reader) (n int64, err error) {
	w.push(buffered + 1)
	returned := false
	defer func() { w.wrote = w.wrote || n > 0 || !returned }()
	n, err = io.Copy(w.ResponseWriter, r)
	returned = true
	return n, err
}

func (w *writer1) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buf, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	w.hijacked = true
	if w.leave() {
		_ = conn.SetDeadline(time.Time{})
	}
	return conn, buf, nil
}
