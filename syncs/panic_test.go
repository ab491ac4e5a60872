package syncs_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"bide.invalid/bide"
	"bide.invalid/bide/park"
)

// A brittle context panics when a wait under it begins, as a faulty one of a user's may; the panic is recovered further
// up, as package net/http does.
type brittle struct {
	context.Context
	in    string
	first func() // called before it panics
}

func (b *brittle) Done() <-chan struct{} {
	if b.in == "Done" {
		b.first()
		panic("brittle")
	}
	return b.Context.Done()
}

func (b *brittle) Value(k any) any {
	if k == (park.Key{}) && b.in == "Value" {
		b.first()
		panic("brittle")
	}
	return b.Context.Value(k)
}

// What one call's panic passes by is as good as ever for the others: what the call was given is passed on.
func TestBubblePanicPassesBy(t *testing.T) {
	for _, in := range []string{"Done", "Value"} {
		for _, x := range calls {
			for _, granted := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/granted=%v", x.name, in, granted), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						c := x.make()
						s := open(t, context.Background())
						defer s.Cancel(nil)
						below, cancel := context.WithCancel(s)
						defer cancel()
						b := &brittle{below, in, func() {}}
						var before func() int
						if granted { // while it is queued, and nobody before it
							before, b.first = waitFor(0, nil), c.grant
						} else {
							before = waitFor(1, func() error { return giveBack(c, s) })
						}
						if got := panics(func() { _ = c.wait(b) }); got != "brittle" {
							t.Fatalf("panic %q", got)
						}
						after := waitFor(2, func() error { return giveBack(c, s) })
						want := 2
						if !granted {
							want = 3
							c.grant()
						}
						if n := before() + after(); n != want {
							t.Errorf("%d of %d others got what they wait for", n, want)
						}
						if err := bide.Check(s); err != nil {
							t.Error(err)
						}
						if x.name == "Mutex.Lock" && !c.clean() {
							t.Error("somebody is left in the queue")
						}
					})
				})
			}
		}
	}
}

// giveBack waits, and gives back what it got.
func giveBack(c call, ctx context.Context) error {
	err := c.wait(ctx)
	if err == nil {
		c.give()
	}
	return err
}
