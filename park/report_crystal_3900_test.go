package park_test

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/park"
	"bide.invalid/bide/timer"
)

// Crystal 3900, 7348 and 7407. A select put its fiber into the queue of each of its channels. Two that got ready together
// both enqueued it: it was resumed while it ran, or after it had ended.
//
// Here one token is in all of the queues, and whoever resolves it is the only one that wakes. Each wait ends once, by one
// of them, and who lost keeps what it had in hand for the next.
func TestReportCrystal3900(t *testing.T) {
	for name, places := range map[string][]int{
		"two queues":               {0, 1},
		"one queue, several times": {0, 0, 0},
		"mixed":                    {1, 0, 2, 1, 0, 2},
	} {
		for _, bounded := range []bool{false, true} {
			selects(t, name, places, bounded)
		}
	}
}

// letterbox is a channel whose readers may wait at several at once.
type letterbox struct {
	mu      sync.Mutex
	letters int
	readers park.List
}

// put hands a letter to a reader, or keeps it.
func (b *letterbox) put() {
	b.mu.Lock()
	w, _ := b.readers.Resolve()
	if w == nil {
		b.letters++
	}
	b.mu.Unlock()
	if w != nil {
		w.Unpark()
	}
}

// selects has senders fill the letterboxes in places, one after the other, and a reader that waits at all of them.
func selects(t *testing.T, name string, places []int, bounded bool) {
	const senders = 3
	each := some(20_000)
	var boxes [3]letterbox
	v := clock.NewVirtual()
	s := timer.NewService(v)
	var group sync.WaitGroup
	var sent, got atomic.Int64
	var over atomic.Bool
	for g := range senders {
		group.Go(func() {
			for i := range each {
				for sent.Load() > got.Load()+1 { // so that the reader waits, mostly, and they come together
					runtime.Gosched()
				}
				sent.Add(1)
				boxes[places[(i*7+g)%len(places)]].put()
			}
		})
	}
	if bounded { // a timeout is one more that may be ready together with the others
		group.Go(func() {
			for !over.Load() {
				v.Advance(1)
				runtime.Gosched()
			}
		})
	}
	w := park.New(nil)
	expired := 0
	for got.Load() < int64(senders*each) {
		o := read(w, s, &boxes, places, bounded)
		switch i := int(o) - int(park.User); {
		case o == park.Expired && bounded:
			expired++
		case i >= 0 && i < len(places):
			got.Add(1)
		default:
			t.Fatalf("%s: a wait ended with %v", name, o)
		}
	}
	over.Store(true)
	group.Wait()
	for i := range boxes {
		if b := &boxes[i]; b.letters != 0 || !b.readers.Empty() {
			t.Errorf("%s: box %d: %d letters are left, nobody waits: %v", name, i, b.letters, b.readers.Empty())
		}
	}
	reusable(t, w)
	w.Release()
	if p := s.Stats().Pending; p != 0 {
		t.Errorf("%s: %d pending", name, p)
	}
	t.Logf("%s: %d read, %d times expired", name, got.Load(), expired)
}

// read takes a letter from one of places.
func read(w *park.Waiter, s *timer.Service, boxes *[3]letterbox, places []int, bounded bool) park.Outcome {
	due := clock.Forever
	if bounded {
		due = s.Clock().Now() + 2
	}
	tok := w.ArmOn(s, due)
	nodes := w.Nodes(len(places))
	filed := 0
	o := park.Pending
	for i, p := range places {
		b, index := &boxes[p], park.User+park.Outcome(i)
		b.mu.Lock()
		if b.letters == 0 {
			b.readers.PushBack(&nodes[i], w, tok, index)
			filed++
			b.mu.Unlock()
			continue
		}
		if o = w.Withdraw(tok); o == park.Self { // or another was faster, and this letter stays
			b.letters--
			o = index
		}
		b.mu.Unlock()
		break
	}
	if o == park.Pending {
		o = w.Wait(context.Background(), tok, park.KindAny)
	}
	for i := range filed {
		b := &boxes[places[i]]
		b.mu.Lock()
		b.readers.Remove(&nodes[i])
		b.mu.Unlock()
	}
	return o
}
