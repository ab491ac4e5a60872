package httpio

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"

	"bide.invalid/bide"
	"bide.invalid/bide/wire"
)

// hopHeader has the name of the hop that ran out of time, in an answer of 504.
const hopHeader = "Timed-Out-Hop"

// A HopError says that a hop has answered that it, or one behind it, has run out of time. errors.Is finds
// [context.DeadlineExceeded] in it, and yet no scope takes it for a cancellation. It is a net.Error.
type HopError struct {
	Hop string // the name of the scope that ran out of time, as the hop says: do not trust it
}

// Error says it with the hop's name.
func (e *HopError) Error() string { return "bide/httpio: " + strconv.Quote(e.Hop) + " ran out of time" }

// Unwrap is context.DeadlineExceeded, as a list for the same reason as in [wire.BudgetError].
func (e *HopError) Unwrap() []error { return []error{context.DeadlineExceeded} }

// Timeout is true.
func (e *HopError) Timeout() bool { return true }

// Temporary is true, as for context.DeadlineExceeded.
func (e *HopError) Temporary() bool { return true }

// longestHop is how much of a name is sent, and believed.
const longestHop = 256

// Check is nil, or a [*HopError] if the answer says that a hop has run out of time. The body is left alone.
func Check(resp *http.Response) error {
	hop := resp.Header.Get(hopHeader)
	if resp.StatusCode != http.StatusGatewayTimeout || hop == "" {
		return nil
	}
	return &HopError{Hop: hop[:min(len(hop), longestHop)]}
}

// Error answers a request that err has ended, as http.Error does: with 504 for a timeout, and then with the name of the
// hop or scope that err blames, without its control characters; with 503 for a cancellation; otherwise with 500. The body
// is err's text, but for 500, where it could tell too much.
func Error(w http.ResponseWriter, err error) {
	var ne net.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &ne) && ne.Timeout():
		if hop := culprit(err); hop != "" {
			w.Header().Set(hopHeader, printed(hop))
		}
		http.Error(w, err.Error(), http.StatusGatewayTimeout)
	case errors.Is(err, context.Canceled):
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	default:
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
	}
}

// printed is a hop's name as it can stand in a header: names are often paths, which others write. A control character
// would have the client refuse the whole answer, or the server leave out the name, and it is no longer than what is
// believed.
func printed(hop string) string {
	name := []byte(hop[:min(len(hop), longestHop)])
	for i, c := range name {
		if c < ' ' || c == 0x7f {
			name[i] = '?'
		}
	}
	return string(name)
}

// culprit is who err blames: the hop that is farthest away.
func culprit(err error) string {
	var hop *HopError
	var budget *wire.BudgetError
	var late *bide.TimeoutError
	var c *bide.Canceled
	switch {
	case errors.As(err, &hop):
		return hop.Hop
	case errors.As(err, &budget):
		return budget.Hop
	case errors.As(err, &late):
		return late.Scope
	case errors.As(err, &c):
		return c.Scope
	}
	return ""
}
