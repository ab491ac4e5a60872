package syncs_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/syncs"
)

// What is not to be had at once is left alone.
func ExampleGuard_TryWith() {
	cache := syncs.NewGuard(map[string]int{})
	lookup := func(m *map[string]int) error {
		(*m)["lookups"]++
		return nil
	}
	done, err := cache.TryWith(lookup)
	fmt.Println(done, err)

	_ = cache.With(context.Background(), func(m *map[string]int) error {
		done, err = cache.TryWith(lookup) // somebody has it: here it is us
		return nil
	})
	fmt.Println(done, err)
	// Output:
	// true <nil>
	// false <nil>
}

// Readers that do not wait, or not for long; and one that knows nothing of contexts.
func ExampleRWMutex_TryRLock() {
	var config syncs.RWMutex
	fmt.Println("nobody writes:", config.TryRLock())
	config.RUnlock()

	config.TryLock()
	fmt.Println("somebody writes:", config.TryRLock())
	err := config.RLockUntil(clock.Now().Add(1))
	fmt.Println("a nanosecond later, too:", errors.Is(err, os.ErrDeadlineExceeded))
	config.Unlock()

	reader := config.RLocker() // a sync.Locker
	reader.Lock()
	fmt.Println("readers:", config.Stats().Held)
	reader.Unlock()
	// Output:
	// nobody writes: true
	// somebody writes: false
	// a nanosecond later, too: true
	// readers: 1
}

// A worker that looks whether there is something to do, and does other things if not.
func ExampleAutoEvent_TryWait() {
	var work syncs.AutoEvent
	fmt.Println(work.TryWait())
	work.Set()
	work.Set() // is not counted
	fmt.Println(work.TryWait(), work.TryWait())
	// Output:
	// false
	// true false
}

// Whoever waits for the answer is told that there will be none.
func ExampleFuture_Fail() {
	var answer syncs.Future[string]
	fmt.Println(answer.Fail(errors.New("the connection is lost")))
	_, err := answer.Wait(context.Background())
	fmt.Println(err)
	// Output:
	// true
	// the connection is lost
}

// A request that can never be met is refused at once, and need not wait for its context to end.
func ExampleErrTooLarge() {
	memory := syncs.NewSemaphore(100)
	err := memory.Acquire(context.Background(), 101)
	fmt.Println(errors.Is(err, syncs.ErrTooLarge), "of", memory.Size())
	// Output: true of 100
}
