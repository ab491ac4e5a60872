package queue

import (
	"sync"
	"testing"
	"time"

	"bide.invalid/bide/clock"
)

// TestBoundWithoutLock: the lazy heap's lower bound may be read while others change the heap. The race detector looks.
func TestBoundWithoutLock(t *testing.T) {
	q := NewHeap4Lazy().(*timers)
	s := q.s.(*lazy4)
	stop, bound := make(chan struct{}), clock.Forever
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				bound = min(bound, s.next())
			}
		}
	})
	var items [100]Item
	var buf [8]*Item
	for i := range 20_000 {
		x := &items[i*7%len(items)]
		q.Cancel(x)
		q.Schedule(x, clock.Instant(i+1+i*31%97))
		q.Reschedule(x, clock.Instant(i+1+i*37%97))
		q.Expire(clock.Instant(i), buf[:])
	}
	close(stop)
	wg.Wait()
	if bound <= 0 {
		t.Errorf("a bound of %d, before everything", bound)
	}
}

// TestLazySweep: canceled items stay in the heap until they are a quarter, and not longer.
func TestLazySweep(t *testing.T) {
	q := probed(t, NewHeap4Lazy())
	s := q.s.(*probe).checker.(*lazy4)
	items := make([]Item, 1000)
	for i := range items {
		q.Schedule(&items[i], clock.Instant(i+1))
	}
	for i := range items[:900] {
		q.Cancel(&items[999-i])
	}
	if len(s.h) != 1000 || s.zombies != 900 {
		t.Fatalf("after Cancel the heap has %d, %d of them zombies", len(s.h), s.zombies)
	}
	q.Schedule(&items[500], 500) // is there still, and lives again
	if len(s.h) != 1000 || s.zombies != 899 {
		t.Errorf("after a zombie came back the heap has %d, %d of them zombies", len(s.h), s.zombies)
	}
	var fresh Item
	q.Schedule(&fresh, 1000)
	if len(s.h) != 102 || s.zombies != 0 {
		t.Errorf("after an insert the heap has %d, %d of them zombies", len(s.h), s.zombies)
	}
}

// TestWheelLooks: a pop stops after so many moves; Next says that there is more, and nothing comes out of order.
func TestWheelLooks(t *testing.T) {
	q := NewWheel(1)
	const n = 5 * looks
	items := make([]Item, n)
	for i := range items {
		q.Schedule(&items[i], clock.Instant(1<<18+n-i)) // one slot of a coarse level, the last comes first
	}
	var buf [2 * n]*Item
	now := clock.Instant(1<<18 + 1)
	calls, got := 0, 0
	for {
		if at, ok := q.Next(); !ok || at > now {
			break
		}
		got += q.Expire(now, buf[got:])
		calls++
	}
	if got != 1 || buf[0] != &items[n-1] || calls < 3 {
		t.Errorf("%d came, in %d calls", got, calls)
	}
	now = clock.Instant(1<<18 + n)
	for at, ok := q.Next(); ok && at <= now; at, ok = q.Next() {
		got += q.Expire(now, buf[got:])
	}
	if got != n {
		t.Fatalf("%d came, want %d", got, n)
	}
	for i, x := range buf[:n] {
		if x != &items[n-1-i] {
			t.Fatalf("item %d is out of order", i)
		}
	}
	// Nor does what was due when it was scheduled get before what a look has not reached.
	q = NewWheel(1)
	for i := range items {
		items[i] = Item{}
		q.Schedule(&items[i], clock.Instant(1<<18+2-i/(n-1))) // the last is due a tick before the others
	}
	var due Item
	if q.Expire(1<<18+2, buf[:1]) != 0 {
		t.Fatal("an item came before the slot was gone through")
	}
	q.Schedule(&due, 1<<18+2)
	var order []*Item
	for q.Len() > 0 {
		order = append(order, buf[:q.Expire(1<<18+2, buf[:])]...)
	}
	if order[0] != &items[n-1] || order[n] != &due {
		t.Errorf("%d came, the first or the last is not what was expected", len(order))
	}
}

// TestMoveLater: what moves later stays in its slot, whatever the order of the moves, until the slot is looked at.
func TestMoveLater(t *testing.T) {
	q := NewWheel(1)
	var x Item
	var buf [1]*Item
	q.Schedule(&x, 100)
	place := x.place
	for _, at := range []clock.Instant{5000, 101, 1 << 40, 70} {
		if q.Reschedule(&x, at); x.place != place {
			t.Errorf("moved to %d, and to another slot", at)
		}
	}
	for at, ok := q.Next(); ok; at, ok = q.Next() {
		if n := q.Expire(at, buf[:]); n == 1 && at != 70 {
			t.Errorf("it comes at %d, want 70", at)
		}
	}
}

// TestLanes: constant durations make as many lanes, and lanes that are empty are not kept for good.
func TestLanes(t *testing.T) {
	q := probed(t, NewLanes())
	s := q.s.(*probe).checker.(*lanes)
	items := make([]Item, 300)
	var buf [1]*Item
	for i := range items {
		q.Expire(clock.Instant(i), buf[:])
		q.Schedule(&items[i], clock.Instant(i+1000*(1+i%3)))
	}
	if len(s.by) != 3 {
		t.Fatalf("%d lanes, want 3", len(s.by))
	}
	for i := range items {
		q.Cancel(&items[i])
	}
	for i := range items { // as many durations as items
		q.Schedule(&items[i], clock.Instant(10_000+i))
		q.Cancel(&items[i])
	}
	if len(s.by) != idleLanes || len(s.all) > idleLanes+1 {
		t.Errorf("%d lanes and %d numbers, want %d", len(s.by), len(s.all), idleLanes)
	}
	hot := s.by[1000-299] // none
	if hot != nil {
		t.Fatal("a duration that nobody asked for")
	}
	for range 3 * idleLanes { // two that become empty by turns are not made anew each time
		for _, d := range []clock.Instant{10_000, 10_001} {
			q.Schedule(&items[0], d)
			q.Cancel(&items[0])
		}
	}
	made := testing.AllocsPerRun(100, func() {
		q := q.s.(*probe).checker
		for i, d := range []clock.Instant{10_000, 10_001} {
			items[i].due = d
			q.insert(&items[i])
			q.remove(&items[i])
		}
	})
	if made != 0 {
		t.Errorf("%v allocations by lanes in use", made)
	}
}

// TestTowers: one item out of four is in the second list, and so on; what was taken out holds on to nobody.
func TestTowers(t *testing.T) {
	q := NewSkipList()
	items := make([]Item, 1<<12)
	var heights [maxTower + 1]int
	for i := range items {
		q.Schedule(&items[i], clock.Instant(1+i*7919%len(items)))
		heights[len(items[i].tower)]++
	}
	above := len(items)
	for h, want := 1, len(items); h <= 4; h++ {
		above -= heights[h]
		if want /= 4; above < want*3/4 || above > want*4/3 {
			t.Errorf("%d towers are higher than %d, want about %d", above, h, want)
		}
	}
	for i := range items {
		q.Cancel(&items[i])
		for l, x := range items[i].tower {
			if x != nil {
				t.Fatalf("item %d still points to another one in list %d", i, l)
			}
		}
	}
}

// TestFar: what is beyond a simple wheel's turn, alone and with others; and what is left of it after time has jumped.
func TestFar(t *testing.T) {
	q := probed(t, NewSimpleWheel(time.Millisecond, 8))
	at := func(ms int) clock.Instant { return clock.Instant(ms) * 1e6 }
	var near, far, later Item
	var buf [1]*Item
	if !q.Schedule(&far, at(20)) || !q.Schedule(&near, at(3)) || q.Schedule(&later, at(30)) {
		t.Error("isNext")
	}
	if _, wasNext := q.Cancel(&later); wasNext {
		t.Error("far away, and yet the next")
	}
	q.Cancel(&near)
	if _, wasNext := q.Cancel(&far); !wasNext {
		t.Error("alone, and not the next")
	}
	q.Expire(at(50), buf[:])
	if !q.Schedule(&later, at(70)) {
		t.Error("alone, and not to be the next")
	}
	if next, _ := q.Next(); next != at(64) { // the beginning of its turn, not of one that has passed
		t.Errorf("Next is %v", next)
	}
	if n := q.Expire(at(69), buf[:]) + q.Expire(at(70), buf[:]); n != 1 || q.Len() != 0 {
		t.Errorf("%d came", n)
	}
}

// TestNoAllocation: once it has been as full before, a queue allocates nothing.
func TestNoAllocation(t *testing.T) {
	for _, c := range All() {
		q := c.New()
		items := make([]Item, 200)
		var buf [64]*Item
		now := clock.Instant(0)
		round := func() {
			for i := range items {
				q.Schedule(&items[i], now+clock.Instant(1+i*i%100)<<20)
			}
			for i := range 50 {
				q.Reschedule(&items[i], now+clock.Instant(200+i)<<20)
				q.Cancel(&items[100+i])
			}
			now += 400 << 20
			for q.Len() > 0 {
				q.Expire(now, buf[:])
			}
		}
		for range 50 {
			round()
		}
		budget := 0.0
		switch c.Name {
		case "skiplist": // a tower that is higher than the item's have been
			budget = 10
		case "lanes": // a hundred durations, more than are kept
			budget = 400
		}
		if got := testing.AllocsPerRun(20, round); got > budget {
			t.Errorf("%s: %v allocations, want at most %v", c.Name, got, budget)
		}
	}
}

func TestBadTicksAndSizes(t *testing.T) {
	const tick = "bide/timer/queue: a tick is a microsecond to a second"
	const slots = "bide/timer/queue: the number of slots is a power of two from 2 to 4096"
	for _, c := range []struct {
		what string
		f    func()
		want any
	}{
		{"a tick of 0", func() { NewNonCascadingWheel(0) }, tick},
		{"a tick below a microsecond", func() { NewHashedWheel(999, 64) }, tick},
		{"a tick above a second", func() { NewSimpleWheel(time.Second+1, 64) }, tick},
		{"a microsecond", func() { NewNonCascadingWheel(time.Microsecond) }, nil},
		{"a second", func() { NewNonCascadingWheel(time.Second) }, nil},
		{"one slot", func() { NewHashedWheel(time.Second, 1) }, slots},
		{"three slots", func() { NewSimpleWheel(time.Second, 3) }, slots},
		{"too many slots", func() { NewSimpleWheel(time.Second, 8192) }, slots},
		{"a negative tick", func() { NewWheel(-1) }, "bide/timer/queue: the tick of NewWheel is a power of two, up to 1<<30"},
		{"an odd tick", func() { NewWheel(3) }, "bide/timer/queue: the tick of NewWheel is a power of two, up to 1<<30"},
		{"a tick of 2<<30", func() { NewWheel(2 << 30) }, "bide/timer/queue: the tick of NewWheel is a power of two, up to 1<<30"},
	} {
		if got := panics(c.f); got != c.want {
			t.Errorf("%s: panic %v, want %v", c.what, got, c.want)
		}
	}
}

// TestSlab: a node that is free is used again, and an empty queue gives a large slab back.
func TestSlab(t *testing.T) {
	q := probed(t, NewSlabWheel(1<<20))
	w := q.s.(*probe).checker.(*slabWheel)
	items := make([]Item, 2*kept)
	for i := range items[:kept] {
		q.Schedule(&items[i], clock.Instant(1+i)<<20)
	}
	for round := range 3 {
		for i := range items[:10] {
			q.Cancel(&items[(round+i*7)%kept])
			q.Schedule(&items[(round+i*7)%kept], clock.Instant(1+i)<<30)
		}
	}
	if len(w.nodes) != kept+1 || w.free != 0 {
		t.Errorf("the slab has %d nodes, and node %d is free", len(w.nodes), w.free)
	}
	for i := range items[kept:] {
		q.Schedule(&items[kept+i], clock.Instant(1+i)<<24)
	}
	for i := range items {
		q.Cancel(&items[i])
	}
	if w.nodes != nil || w.owners != nil || w.free != 0 {
		t.Errorf("an empty queue keeps %d nodes", len(w.nodes))
	}
	q.Schedule(&items[0], 1<<21)
	if items[0].place != 1 {
		t.Errorf("the first item has node %d", items[0].place)
	}
}

// TestSlabLooks: base follows the time, so that what is near is looked at when it is due, also where a slot was open
// before; and a pop stops after so many moves.
func TestSlabLooks(t *testing.T) {
	const tick = 1 << 20
	q := probed(t, NewSlabWheel(tick))
	var x Item
	var buf [1]*Item
	for _, at := range []clock.Instant{5, width + 5, 10*width + 5} { // the same slot of the finest level
		q.Expire(at/width*width*tick, buf[:])
		q.Schedule(&x, at*tick)
		if next, _ := q.Next(); next != at*tick {
			t.Errorf("what is due at tick %d is looked at first at %d", at, next/tick)
		}
		if q.Expire(at*tick, buf[:]) != 1 {
			t.Fatalf("what is due at tick %d does not come", at)
		}
	}
	const start = width * width * tick // a slot of the third level
	items := make([]Item, 3*looks)
	for i := range items {
		q.Schedule(&items[i], start+tick)
	}
	calls := 0
	for next, _ := q.Next(); next <= start; next, _ = q.Next() {
		if q.Expire(start, buf[:]) != 0 {
			t.Fatal("something came a tick early")
		}
		calls++
	}
	if calls < 3 {
		t.Errorf("%d moves took %d calls", len(items), calls)
	}
}
