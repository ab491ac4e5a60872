package bide

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// A Source says what canceled a scope.
type Source uint8

// The sources.
const (
	ByDeadline  Source = iota + 1 // its deadline, or that of a scope above
	ByIdle                        // no progress for as long as its idle limit allows
	ByCancel                      // Scope.Cancel, Nursery.Cancel
	BySibling                     // another child of the nursery failed
	ByBody                        // the nursery's body failed
	ByContext                     // a context that is not a scope
	BySignal                      // a signal to the process, under Main without a grace
	ByShutdown                    // the grace of a Stop has run out, of its scope or of one above
	ByAbandoned                   // the scope, or one above it, was closed
)

var sourceNames = [...]string{"", "deadline", "idle", "cancel", "sibling", "body", "context", "signal", "shutdown", "the end of its scope"}

// String names the source.
func (s Source) String() string {
	if int(s) < len(sourceNames) && s != 0 {
		return sourceNames[s]
	}
	return "source " + strconv.Itoa(int(s))
}

// Canceled is the error of every blocking call under a canceled scope. Everything below shares one value: it must not
// be modified.
//
// errors.Is finds [context.DeadlineExceeded] in it if its Source is ByDeadline or ByIdle, and [context.Canceled]
// otherwise; if it is ByContext, what that context's Err is. It also finds what is in its Reason, except if the Source
// is BySibling or ByBody. It is a net.Error.
//
// Return it, or wrap it with %w, as any error: the scope that is responsible drops it at its end. Do not compare it
// with ==. A Canceled that is made by other code is an ordinary error.
type Canceled struct {
	Source Source
	late   bool      // ByContext: the context's Err is DeadlineExceeded
	Reason error     // what Cancel was given, the child's error, the context's cause; may be nil
	Scope  string    // the Name of the scope that was canceled first
	At     time.Time // when, on that scope's clock

	when    clock.Instant  // At, as an instant
	on      *timer.Service // of this one's clock; nil: it is not known when
	verdict *TimeoutError  // of an expiry, see there
	self    *Canceled      // the mark of those that were made here: a copy, or one that other code makes, has it not
}

// An expiry is one allocation for what comes of a bound that has passed: what everybody below gets, and what the scope
// makes of it in the end. Most often one waits.
type expiry struct {
	canceled Canceled
	verdict  TimeoutError // the scope's owner's; until timeout only a Ledger, of who waited, complete behind await
	open     [1]LedgerEntry
}

// abandoned is what closing a scope cancels it with.
var abandoned = mint(&Canceled{Source: ByAbandoned})

func mint(c *Canceled) *Canceled {
	c.self = c
	return c
}

// canceled makes a Canceled that says s was canceled now.
func (s *Scope) canceled(source Source, reason error) *Canceled {
	return s.canceledAt(source, reason, s.now())
}

func (s *Scope) canceledAt(source Source, reason error, when clock.Instant) *Canceled {
	return s.fill(new(Canceled), source, reason, when)
}

// fill is canceledAt in place.
func (s *Scope) fill(c *Canceled, source Source, reason error, when clock.Instant) *Canceled {
	on := s.timers()
	at, _ := on.Clock().Time(when)
	*c = Canceled{Source: source, Reason: reason, Scope: s.Name(), At: at, when: when, on: on}
	return mint(c)
}

// made reports whether the value was made by this package.
func (c *Canceled) made() bool { return c.self == c }

// Error says by what, of which scope, and why.
func (c *Canceled) Error() string {
	return "bide: canceled by " + c.by()
}

func (c *Canceled) by() string {
	b := c.Source.String()
	if c.Scope != "" {
		b += " of scope " + strconv.Quote(c.Scope)
	}
	if c.Reason != nil {
		b += ": " + c.Reason.Error()
	}
	return b
}

// Is matches one of [context.Canceled] and [context.DeadlineExceeded].
func (c *Canceled) Is(target error) bool { return target == c.sentinel() }

// Unwrap is the Reason, but nil for BySibling and ByBody: another goroutine's failure must not be found by errors.Is in
// the error of one that is healthy. Read the field.
func (c *Canceled) Unwrap() error {
	if c.Source == BySibling || c.Source == ByBody {
		return nil
	}
	return c.Reason
}

// Timeout reports whether a deadline is the source.
func (c *Canceled) Timeout() bool { return c.sentinel() == context.DeadlineExceeded }

// Temporary is Timeout, as for context.DeadlineExceeded.
func (c *Canceled) Temporary() bool { return c.Timeout() }

func (c *Canceled) sentinel() error {
	if c.Source == ByDeadline || c.Source == ByIdle || c.late {
		return context.DeadlineExceeded
	}
	return context.Canceled
}

// A TimeoutError says that a bound ended what ran under it. To every scope around it is an ordinary error.
//
// errors.Is finds [context.DeadlineExceeded] and [os.ErrDeadlineExceeded] in it. It is a net.Error.
type TimeoutError struct {
	Scope   string        // the Name of the scope whose bound it was
	Limit   time.Duration // from the scope's opening, or when it was first bounded, to its deadline, as it stood in the end
	Elapsed time.Duration // from the same moment to the end of the body
	Ledger  Ledger        // where the time went
	Idle    bool          // the bound was on time without progress: that is the Limit
	Cut     *Canceled     // what has cut a shield before its bound: a Stop's hard end; Limit is how long it had

	site site
}

// Error says whose bound, how long it was, where the time went, and, if the end took its time, when that was:
//
//	bide: checkout: timeout after 2s: pool 1.7s, lock 0.2s; ended after 3.1s
//
// The ledger has durations where the scope was told to [Account]; else it says what was being waited for. A scope
// without a name is called by file and line of who has set the bound, if that is known: see SetBy.
func (e *TimeoutError) Error() string { return e.text(e.Elapsed > e.Limit+e.Limit/10) }

func (e *TimeoutError) text(ended bool) string {
	name := e.Scope
	if name == "" {
		_, name = e.site.place()
	}
	if name != "" {
		name += ": "
	}
	what := "timeout"
	if e.Cut != nil {
		what = "cut"
	}
	b := "bide: " + name + what + " after " + e.Limit.String()
	if e.Idle {
		b += " without progress"
	}
	if l := e.Ledger.String(); l != "" {
		b += ": " + l
	}
	if ended {
		b += "; ended after " + e.Elapsed.String()
	}
	if e.Cut != nil {
		b += " (" + e.Cut.by() + ")"
	}
	return b
}

// SetBy is who has set the bound: function, file and line of the call that opened the scope, or that moved its deadline
// last. It is known of a scope that accounts for its waits ([Account], [Main]), but not the opening of one that has a
// Name, by which that is found; else it is "". The text is made here.
func (e *TimeoutError) SetBy() string {
	if e.site == 0 {
		return ""
	}
	function, line := e.site.place()
	return function + " " + line
}

// Format writes Error, and with %+v, which log/slog uses, all that is known: also when the body ended, and SetBy.
func (e *TimeoutError) Format(f fmt.State, verb rune) {
	if verb != 'v' || !f.Flag('+') {
		fmt.Fprintf(f, fmt.FormatString(f, verb), e.Error())
		return
	}
	text := e.text(true)
	if by := e.SetBy(); by != "" {
		text += "; set by " + by
	}
	io.WriteString(f, text) //nolint:errcheck // a fmt.State keeps its errors
}

// Is matches the two deadline sentinels.
func (e *TimeoutError) Is(target error) bool {
	return target == context.DeadlineExceeded || target == os.ErrDeadlineExceeded
}

// Timeout is true.
func (e *TimeoutError) Timeout() bool { return true }

// Temporary is true, as for context.DeadlineExceeded.
func (e *TimeoutError) Temporary() bool { return true }

// ErrMisnested is the error of [Scope.Close] when a scope that was opened below is still open. The usual reason is a
// Close in the wrong order, or one that is missing.
var ErrMisnested = errors.New("bide: a scope was closed while one below it was open: close the inner one first")

// ErrGoexit is the error of a nursery's child that called runtime.Goexit.
var ErrGoexit = errors.New("bide: child called runtime.Goexit")

// A PanicError is what [WithNursery] panics with under the option [Repanic].
type PanicError struct {
	Value any    // what the child panicked with
	Stack []byte // the child's
}

// Error says what it was, and shows the child's stack.
func (e *PanicError) Error() string {
	return fmt.Sprintf("bide: child panicked: %v\n\n%s", e.Value, e.Stack)
}

// Unwrap is the Value if that is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// ErrNotStarted is the error of [Start] when the function returned nil and had not said that it was ready.
var ErrNotStarted = errors.New("bide: the child ended before it was ready")

// childError is the Reason of a Canceled by a child that has a name.
type childError struct {
	name string
	err  error
}

func (e *childError) Error() string { return "child " + strconv.Quote(e.name) + ": " + e.err.Error() }
func (e *childError) Unwrap() error { return e.err }
