package syncs_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/syncs"
)

// A Log is appended to by several goroutines, slowly. An entry's place is fixed when Append is called, not when its text
// is ready: who is told afterwards comes behind it.
type Log struct {
	turn syncs.FairMutex
	text []string
}

// Append takes the next place, announces that, and only then makes the text and waits for the place's turn.
func (l *Log) Append(ctx context.Context, announce func(), text func() string) error {
	ticket := l.turn.LockAsync()
	defer ticket.Cancel() // if announce or text panics; after Wait it does nothing
	announce()
	s := text()
	if err := ticket.Wait(ctx); err != nil {
		return err // the ticket is given up, and the next one has its turn
	}
	defer l.turn.Unlock()
	l.text = append(l.text, s)
	return nil
}

// Take a ticket, announce it, wait later.
func ExampleFairMutex_LockAsync() {
	ctx := context.Background()
	var log Log
	first, second := make(chan struct{}), make(chan struct{})
	done := make(chan error)

	go func() {
		done <- log.Append(ctx, func() { close(first) }, func() string {
			<-second // the other one is ready before
			return "asked first"
		})
	}()
	<-first
	go func() {
		done <- log.Append(ctx, func() { close(second) }, func() string { return "asked second" })
	}()
	fmt.Println(<-done, <-done, log.text)

	// Who cannot wait any longer gives its place up.
	_ = log.turn.Lock(ctx)
	err := bide.FailAfter(ctx, 5*time.Millisecond, func(ctx context.Context) error {
		return log.Append(ctx, func() {}, func() string { return "asked third" })
	})
	log.turn.Unlock()
	fmt.Println(errors.Is(err, context.DeadlineExceeded), len(log.text), log.turn.TryLock())

	// Output:
	// <nil> <nil> [asked first asked second]
	// true 2 true
}
