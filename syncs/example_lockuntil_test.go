package syncs_test

import (
	"errors"
	"fmt"
	"os"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/syncs"
)

// Several locks under one deadline, where there is no context and a scope would be too much: the deadline is an instant,
// made once, so the second wait gets what the first has left.
func ExampleMutex_LockUntil() {
	var from, to syncs.Mutex

	transfer := func(d time.Duration) error {
		deadline := clock.After(d)
		if err := from.LockUntil(deadline); err != nil {
			return err
		}
		defer from.Unlock()
		if err := to.LockUntil(deadline); err != nil {
			return err
		}
		defer to.Unlock()
		return nil
	}

	fmt.Println(transfer(time.Second))

	to.TryLock()
	err := transfer(2 * time.Millisecond)
	fmt.Println(errors.Is(err, os.ErrDeadlineExceeded))
	fmt.Println("given back:", from.TryLock())

	// Output:
	// <nil>
	// true
	// given back: true
}
