package syncs

import (
	"context"

	"bide.invalid/bide/internal/step"
)

// A Futex counts posts, and lets wait for those to come. It is for a condition that is kept elsewhere, in words that are
// changed without a lock: who changes them posts, who waits takes the number of the next post before it looks. Then a
// post that comes between the look and the wait is not lost. The zero Futex counts 0.
//
//	for {
//		next := f.Get() + 1
//		if ready() {
//			return nil
//		}
//		if err := f.Wait(ctx, next); err != nil {
//			return err
//		}
//	}
//
// A Post costs one compare-and-swap and a load unless somebody waits for it.
//
// # Fairness
//
// That of a [Sequencer]: a Post wakes those who wait for its number, all of them, in the order of their arrival. A
// number is never passed without waking who waits for it.
//
// # Cancellation
//
// A Wait that returns an error has left the futex as it was.
//
// # Close
//
// A closed Futex counts no more posts. Whoever waits for one that has not come, now or later, gets [ErrClosed]; to wait
// for one that has come succeeds.
//
// # Memory model
//
// The n-th Post, and those before it, synchronize before the return of any Wait for n or less that returns nil, and of
// any Get that reports n or more.
type Futex struct{ s Sequencer }

// Get returns the number of posts.
func (f *Futex) Get() uint64 { return f.s.Get() }

// Post counts one more, and wakes those who wait for it. After Close it does nothing.
func (f *Futex) Post() {
	for {
		old := f.s.word.Load()
		if old&shut != 0 {
			return
		}
		step.At("futex.post")
		if f.s.word.CompareAndSwap(old, old+1) {
			step.At("futex.moved")
			if f.s.reaches(old + 1) {
				f.s.release()
			}
			return
		}
	}
}

// Wait waits until there were n posts or more, or returns why ctx ended before, or ErrClosed. Under a canceled context
// it returns its error even if there were.
func (f *Futex) Wait(ctx context.Context, n uint64) error {
	notNil("Wait of a Futex", ctx)
	return f.s.wait(ctx, n)
}

// Close ends the waits of all who wait, and of all who come later, with [ErrClosed]. It is idempotent.
func (f *Futex) Close() { f.s.Close() }
