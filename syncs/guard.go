package syncs

import "context"

// A Guard is a value that can be had only with its lock held. The zero Guard has the zero value.
//
// # Fairness
//
// That of [Mutex].
//
// # Cancellation
//
// A With whose context ended before it had the lock has not called its function. Once the function runs, its context is
// its own affair.
//
// # Close
//
// There is nothing to close.
//
// # Memory model
//
// What one function does to the value happened before the call of the next one.
type Guard[T any] struct {
	mu Mutex
	v  T
}

// NewGuard returns a Guard of v.
func NewGuard[T any](v T) *Guard[T] { return &Guard[T]{v: v} }

// With calls f with the value, which is f's alone until f returns, panics, or ends the goroutine: f does not keep the
// pointer, and does not call With of the same Guard. The error is f's; or why ctx ended before f was called.
func (g *Guard[T]) With(ctx context.Context, f func(v *T) error) error {
	notNil("With of a Guard", ctx)
	if err := g.mu.Lock(ctx); err != nil {
		return err
	}
	defer g.mu.Unlock()
	return f(&g.v)
}

// TryWith is With if the value is to be had at once; else f is not called, and done is false.
func (g *Guard[T]) TryWith(f func(v *T) error) (done bool, err error) {
	if !g.mu.TryLock() {
		return false, nil
	}
	defer g.mu.Unlock()
	return true, f(&g.v)
}
