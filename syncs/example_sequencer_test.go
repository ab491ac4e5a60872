package syncs_test

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"bide.invalid/bide/syncs"
)

// Work is done by many at a time, and what comes of it is written in order: each waits for its turn, and passes it on.
func ExampleSequencer() {
	ctx := context.Background()
	words := strings.Fields("to bide one's time is to wait patiently and within bounds")
	var turn syncs.Sequencer
	var all sync.WaitGroup
	for i, word := range words {
		all.Go(func() {
			result := strings.ToUpper(word) // at the same time as others

			if err := turn.Wait(ctx, uint64(i)); err != nil {
				return
			}
			fmt.Print(result, " ")
			turn.Increment()
		})
	}
	all.Wait()
	fmt.Println()

	// Output:
	// TO BIDE ONE'S TIME IS TO WAIT PATIENTLY AND WITHIN BOUNDS
}

// A log is written up to a position, and readers wait for theirs, or for the end of the log, whichever comes first.
func ExampleSequencer_At() {
	ctx := context.Background()
	var written syncs.Sequencer
	var sealed syncs.Event

	read := func(position uint64) string {
		which, err := syncs.WaitAny(ctx, written.At(position), &sealed)
		switch {
		case err != nil:
			return err.Error()
		case which == 1:
			return fmt.Sprintf("%d will never be written", position)
		}
		return fmt.Sprintf("%d is written", position)
	}

	written.Advance(100)
	fmt.Println(read(7))
	sealed.Set()
	fmt.Println(read(100))
	fmt.Println(read(101))

	// Output:
	// 7 is written
	// 100 is written
	// 101 will never be written
}

// CancelWaiters sends everybody away, to look at the world again; the sequencer goes on.
func ExampleSequencer_CancelWaiters() {
	ctx := context.Background()
	var version syncs.Sequencer
	gone := make(chan error)
	var waiting syncs.Event
	go func() {
		waiting.Set()
		gone <- version.Wait(ctx, 3)
	}()
	_ = waiting.Wait(ctx)
	for {
		version.CancelWaiters() // until it has met the one above
		select {
		case err := <-gone:
			fmt.Println("sent away:", err)
			version.Advance(3)
			fmt.Println("later:", version.Wait(ctx, 3))
			return
		default:
		}
	}

	// Output:
	// sent away: bide/syncs: closed
	// later: <nil>
}
