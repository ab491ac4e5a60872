package bide

import (
	"context"
	"math"
	"math/rand/v2"
	"strconv"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/park"
)

// Retries says how often [Retry] tries, and when. The zero value tries until the time is up, with pauses that grow from
// 100 ms to 10 s.
type Retries struct {
	Tries    int           // at most; 0: as many as the context leaves time for
	Delay    time.Duration // before the second try; 0: 100 ms
	Factor   float64       // from each pause to the next; 0: 2
	MaxDelay time.Duration // the longest pause; 0: 10 s, or Delay if that is more
	PerTry   time.Duration // the bound of each try; 0: only the context's
	MinWork  time.Duration // another try is not begun if it would have less than that

	// If says which errors are worth another try; nil: all. It is not asked when the context is canceled.
	If func(err error) bool

	// Rand says where in its upper half a pause lies, from 0 to below 1, so that those who failed together do not come
	// again together; nil: that of math/rand. It is for tests: it is called without a lock.
	Rand func() float64
}

// Retry calls f until it succeeds. It gives up, with a [*RetryError] around the last error, when the tries are used up,
// or if the pause would leave the next try no time (less than MinWork): it does not sleep in vain. An error for which
// If reports false is returned as it is.
//
// A try that PerTry has ended has failed like any other, with a [*TimeoutError] that is named "try 2", for instance.
// When ctx ends there is no other try: Retry returns f's error, or, in a pause, the context's error, with the last
// error of f in its text. Under a [Scope.Stop] it goes on until the hard end, which counts as a deadline.
//
// Pauses are on the clock of ctx. It must be harmless to call f more than once.
func Retry(ctx context.Context, r Retries, f func(context.Context) error) error {
	notNil("Retry", ctx)
	if f == nil {
		panic("bide: Retry: nil function")
	}
	r.fill()
	if err := park.Err(ctx); err != nil {
		return err
	}
	for n := 1; ; n++ {
		err := r.try(ctx, n, f)
		// What f has set by ctx's deadline ends with it, and ctx's own timer may be a moment behind.
		if err == nil || errNow(ctx) != nil || r.If != nil && !r.If(err) {
			return err
		}
		if n == r.Tries {
			return &RetryError{Tries: n, Err: err}
		}
		pause := r.pause(n)
		need := time.Duration(clock.Instant(pause).Add(r.MinWork)) // saturates
		if left := Remaining(ctx); left < need || left == pause {
			return &RetryError{Tries: n, Err: err, Left: left, Need: need}
		}
		if c := Sleep(ctx, pause); c != nil {
			return &retryCanceled{c, err}
		}
	}
}

func (r *Retries) try(ctx context.Context, n int, f func(context.Context) error) error {
	if r.PerTry == 0 {
		return f(ctx)
	}
	return FailAfter(ctx, r.PerTry, f, Name("try "+strconv.Itoa(n)))
}

// fill puts in what is not given.
func (r *Retries) fill() {
	if r.Tries < 0 {
		panic("bide: Retry: Tries is negative: " + strconv.Itoa(r.Tries))
	}
	for i, d := range [...]time.Duration{r.Delay, r.MaxDelay, r.PerTry, r.MinWork} {
		if d < 0 {
			panic("bide: Retry: " + [...]string{"Delay", "MaxDelay", "PerTry", "MinWork"}[i] + " is negative: " + d.String())
		}
	}
	if r.Delay == 0 {
		r.Delay = 100 * time.Millisecond
	}
	if r.MaxDelay == 0 {
		r.MaxDelay = max(r.Delay, 10*time.Second)
	}
	if r.Factor == 0 {
		r.Factor = 2
	}
	if !(r.Factor >= 1) { // NaN as well
		panic("bide: Retry: Factor must be 1 or more, not " + strconv.FormatFloat(r.Factor, 'g', -1, 64))
	}
	if r.Rand == nil {
		r.Rand = rand.Float64
	}
}

// pause is how long to wait after n tries.
func (r *Retries) pause(n int) time.Duration {
	whole := r.MaxDelay
	if d := float64(r.Delay) * math.Pow(r.Factor, float64(n-1)); d < float64(r.MaxDelay) {
		whole = time.Duration(d)
	}
	half := whole / 2
	return whole - half + time.Duration(r.Rand()*float64(half))
}

// A RetryError says why [Retry] has given up: the tries are used up, or there was no time for another. In the latter
// case errors.Is finds [context.DeadlineExceeded] in it, and yet no scope takes it for a cancellation.
type RetryError struct {
	Tries int           // how often it was tried
	Err   error         // of the last try
	Left  time.Duration // what was left
	Need  time.Duration // what the pause and another try would have taken; 0: the tries were used up
}

// Error says how many tries there were, why there is no other, and how the last has ended:
//
//	bide: gave up after 3 tries: connection refused
//	bide: gave up after 2 tries, with 150ms left and 400ms needed: connection refused
func (e *RetryError) Error() string {
	b := "bide: gave up after 1 try"
	if e.Tries != 1 {
		b = "bide: gave up after " + strconv.Itoa(e.Tries) + " tries"
	}
	if e.Need > 0 {
		b += ", with " + e.Left.String() + " left and " + e.Need.String() + " needed"
	}
	return b + ": " + e.Err.Error()
}

// Unwrap is the last error, and context.DeadlineExceeded if there was no time.
func (e *RetryError) Unwrap() []error {
	if e.Need > 0 {
		return []error{e.Err, context.DeadlineExceeded}
	}
	return []error{e.Err}
}

// Timeout reports whether there was no time for another try.
func (e *RetryError) Timeout() bool { return e.Need > 0 }

// Temporary is Timeout, as for context.DeadlineExceeded.
func (e *RetryError) Temporary() bool { return e.Timeout() }

// retryCanceled is a cancellation that came in a pause. It wraps nothing else, so that the scope it belongs to drops it
// as a whole.
type retryCanceled struct{ canceled, last error }

func (e *retryCanceled) Error() string {
	return e.canceled.Error() + " (the last try: " + e.last.Error() + ")"
}
func (e *retryCanceled) Unwrap() error { return e.canceled }
