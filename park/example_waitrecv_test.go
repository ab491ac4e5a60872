package park_test

import (
	"context"
	"fmt"
	"sync"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/park"
)

// A Door can be opened once.
type Door struct {
	mu      sync.Mutex
	open    bool
	waiting park.List
}

// Open opens it.
func (d *Door) Open() {
	var all park.Batch
	d.mu.Lock()
	d.open = true
	all.Resolve(&d.waiting, park.All)
	d.mu.Unlock()
	all.Unpark()
}

// Listen waits for the door to be opened, or for a word from c. heard: a word was taken from c. It is returned even if
// the door was opened or ctx ended in the same instant, since nobody else will hear it.
func (d *Door) Listen(ctx context.Context, c <-chan string) (word string, heard bool, err error) {
	if err := park.Err(ctx); err != nil {
		return "", false, err
	}
	w := park.Get()
	n := &w.Nodes(1)[0]
	t := w.Arm(clock.Forever)
	o := park.Woken
	d.mu.Lock()
	if d.open {
		d.mu.Unlock()
		w.Withdraw(t)
	} else {
		d.waiting.PushBack(n, w, t, park.Woken)
		d.mu.Unlock()
		word, _, heard, o = park.WaitRecv(ctx, w, t, kindDoor, c)
		if o != park.Woken { // Self, too: heard, and the wait withdrawn
			d.mu.Lock()
			d.waiting.Remove(n)
			d.mu.Unlock()
		}
	}
	park.Put(w)
	if heard || o == park.Woken {
		return word, heard, nil
	}
	return "", false, park.Reason(ctx)
}

const kindDoor = park.KindUser + 3

// Waiting for a primitive and a channel at once.
func ExampleWaitRecv() {
	ctx := context.Background()
	var d Door
	words := make(chan string, 1)

	words <- "knock"
	word, heard, err := d.Listen(ctx, words)
	fmt.Printf("%q %v %v\n", word, heard, err)

	go d.Open()
	word, heard, err = d.Listen(ctx, words)
	fmt.Printf("%q %v %v\n", word, heard, err)

	// Output:
	// "knock" true <nil>
	// "" false <nil>
}
