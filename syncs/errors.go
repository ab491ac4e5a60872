package syncs

import "errors"

// ErrClosed is what a call on a primitive returns after its Close, and what Close ends waits with; CancelWaiters of a
// Sequencer, too. It took nothing.
var ErrClosed = errors.New("bide/syncs: closed")

// ErrTooLarge is what a call returns at once that asks for more than the primitive has in all, so that no wait for it
// could end well. It took nothing.
var ErrTooLarge = errors.New("bide/syncs: more was asked for than there is in all")
