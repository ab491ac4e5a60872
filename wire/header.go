package wire

import (
	"context"
	"math"
	"strconv"
	"sync/atomic"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
)

// A Carrier has headers: an http.Header is one. One that has the method Values as well, as http.Header has, is asked for
// all values of a name, and not for the first only.
type Carrier interface {
	Get(name string) string // "" if there is none
	Set(name, value string)
}

// A Header is the name of a header with a budget: a time, relative to when the message is read. Each has its own way to
// write it.
type Header string

// The headers, in the order in which they are read.
const (
	// GRPCTimeout is gRPC's: up to 8 digits and a unit, H, M, S, m (milliseconds), u or n. Proxies pass it on as it is.
	GRPCTimeout Header = "Grpc-Timeout"

	// ConnectTimeout is Connect's: milliseconds, up to 10 digits.
	ConnectTimeout Header = "Connect-Timeout-Ms"

	// EnvoyTimeout is what the proxy Envoy tells the server: milliseconds, up to 10 digits. Envoy replaces what a client
	// has set.
	EnvoyTimeout Header = "X-Envoy-Expected-Rq-Timeout-Ms"

	// RequestTimeout is that of an expired draft (draft-thomson-hybi-http-timeout): whole seconds, up to 10 digits.
	RequestTimeout Header = "Request-Timeout"
)

// headers are all of them, in the order in which they are read.
var headers = [...]Header{GRPCTimeout, ConnectTimeout, EnvoyTimeout, RequestTimeout}

// A unit is what a number in a header counts.
type unit struct {
	name   byte // gRPC's
	d      time.Duration
	digits int
}

// grpcUnits are from the finest to the coarsest.
var grpcUnits = [...]unit{
	{'n', time.Nanosecond, 8}, {'u', time.Microsecond, 8}, {'m', time.Millisecond, 8},
	{'S', time.Second, 8}, {'M', time.Minute, 8}, {'H', time.Hour, 8},
}

// unit is that of every header but gRPC's.
func (h Header) unit() (u unit, ok bool) {
	switch h {
	case ConnectTimeout, EnvoyTimeout:
		return unit{d: time.Millisecond, digits: 10}, true
	case RequestTimeout:
		return unit{d: time.Second, digits: 10}, true
	}
	return unit{}, false
}

// Format writes d as the header wants it, rounded down: the one who reads it never gets more than d, and 0 of less than
// the unit. Zero or less is 0; more than the header has room for is as much as it has.
func (h Header) Format(d time.Duration) string {
	d = max(d, 0)
	if h == GRPCTimeout {
		for _, u := range grpcUnits {
			if n := d / u.d; n < 1e8 {
				var buf [9]byte
				return string(append(strconv.AppendInt(buf[:0], int64(n), 10), u.name))
			}
		}
	}
	return strconv.FormatInt(min(int64(d/h.mustUnit().d), 1e10-1), 10)
}

func (h Header) mustUnit() unit {
	u, ok := h.unit()
	if !ok {
		panic("bide/wire: " + strconv.Quote(string(h)) + " is not a header that this package knows")
	}
	return u
}

// Parse reads what Format writes. ok is false if it is not understood: a sign, a fraction, a space, another unit or none
// where there has to be one, too many digits. What is longer than a time.Duration is the longest one.
func (h Header) Parse(value string) (d time.Duration, ok bool) {
	if h != GRPCTimeout {
		return h.mustUnit().parse(value)
	}
	if value == "" {
		return 0, false
	}
	last := len(value) - 1
	for _, u := range grpcUnits {
		if u.name == value[last] {
			return u.parse(value[:last])
		}
	}
	return 0, false
}

// parse reads digits.
func (u unit) parse(digits string) (d time.Duration, ok bool) {
	if digits == "" || len(digits) > u.digits {
		return 0, false
	}
	var n int64
	for i := range len(digits) {
		c := digits[i]
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	if n > math.MaxInt64/int64(u.d) {
		return math.MaxInt64, true
	}
	return time.Duration(n) * u.d, true
}

// Inject writes what is left of ctx into c: in GRPCTimeout if no header is named. A smaller one that is there stays, of
// several values the smallest, alone, so that a budget set by hand is not widened. Under a ctx without a deadline nothing
// is written; a canceled one has 0 left. It reads the clock, and is to be called right before the message is sent, once
// for each try.
func Inject(ctx context.Context, c Carrier, names ...Header) {
	if d := bide.Remaining(ctx); d != time.Duration(clock.Forever) {
		Put(c, d, names...)
	}
}

// Put is Inject for a time that is known, such as what [Budget.Next] says.
func Put(c Carrier, d time.Duration, names ...Header) {
	if len(names) == 0 {
		names = headers[:1]
	}
	all, _ := c.(lister)
	for _, h := range names {
		switch there, n, garbage := h.least(c, all); {
		case n == 0 || there > d:
			c.Set(string(h), h.Format(d))
		case n > 1 || garbage > 0: // whoever reads the first only must not get more
			c.Set(string(h), h.Format(there))
		}
	}
}

// A lister is a Carrier that has all values of a name.
type lister interface{ Values(name string) []string }

// least is the smallest of the values of the header in c, or in all, if that is not nil. n are understood, and some are
// garbage.
func (h Header) least(c Carrier, all lister) (d time.Duration, n int, garbage int64) {
	var values []string
	if all != nil {
		values = all.Values(string(h))
	} else {
		values = []string{c.Get(string(h))}
	}
	for _, value := range values {
		if value == "" {
			continue
		}
		t, ok := h.Parse(value)
		if !ok {
			garbage++
			continue
		}
		if n == 0 || t < d {
			d = t
		}
		n++
	}
	return d, n, garbage
}

// Extract is the smallest budget in c's headers; 0 if there is no time left. ok is false if there is none that is
// understood. It says what others have asked for, and no more: bound it by a maximum of your own.
//
// All the headers of this package are read, in the order of their constants, and none counts more than another: what a
// proxy has added, or somebody has copied from an older message, can make the budget smaller, and never larger.
func Extract(c Carrier) (d time.Duration, ok bool) {
	all, _ := c.(lister)
	for _, h := range headers {
		t, n, garbage := h.least(c, all)
		if garbage > 0 {
			ignored.Add(garbage)
		}
		if n > 0 && (!ok || t < d) {
			d, ok = t, true
		}
	}
	return d, ok
}

var ignored atomic.Int64

// Ignored is how many values of headers [Extract] has not understood in this process, and therefore ignored.
func Ignored() int64 { return ignored.Load() }
