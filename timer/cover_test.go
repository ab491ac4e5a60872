package timer_test

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// keeper is a sticky owner as park's waiter is one: its entry stays linked, its deadline and its word are atomics, the
// deadline is stored first. The word is even while idle; arming makes it odd, resolving even again.
type keeper struct {
	timer.Entry
	due     atomic.Int64
	word    atomic.Uint64
	covered atomic.Uint64 // the word, once Cover has returned
	fired   chan clock.Instant
	early   atomic.Bool
	now     func() clock.Instant // nil: not looked at
	chunk   [2]int64             // what the owner counts: spurious wake-ups, wins
}

func newKeeper() *keeper {
	k := &keeper{fired: make(chan clock.Instant, 1)}
	k.Init(k)
	return k
}

func (k *keeper) Due(now clock.Instant) (clock.Instant, bool) {
	w := k.word.Load()
	if w%2 == 0 {
		return clock.Forever, false
	}
	if due := clock.Instant(k.due.Load()); due > now {
		return due, false
	}
	return clock.Forever, k.word.CompareAndSwap(w, w+1)
}

func (k *keeper) Fire(now clock.Instant) {
	if due := clock.Instant(k.due.Load()); due > now || k.now != nil && due > k.now() {
		k.early.Store(true)
	}
	k.fired <- now
}

// arm is the owner's; it returns the token.
func (k *keeper) arm(s *timer.Service, due clock.Instant) uint64 {
	k.due.Store(int64(due))
	w := k.word.Add(1)
	s.Cover(&k.Entry, due)
	k.covered.Store(w)
	return w
}

// resolve reports whether the owner was faster than the driver; if not, a firing is owed.
func (k *keeper) resolve(w uint64) bool { return k.word.CompareAndSwap(w, w+1) }

// TestCoverCostsNothingLater: arming for later, while linked, is no call of the service; earlier links anew.
func TestCoverCostsNothingLater(t *testing.T) {
	v := clock.NewVirtual()
	s := timer.NewService(v)
	k := newKeeper()
	w := k.arm(s, 100)
	before := s.Stats()
	next, _ := s.Next()
	for i := range clock.Instant(1000) { // armed, resolved, armed for the same time or later
		if !k.resolve(w) {
			t.Fatal("not resolved")
		}
		w = k.arm(s, 100+i)
	}
	if at, _ := s.Next(); at != next || s.Stats() != before {
		t.Errorf("next look %v, was %v; %+v, was %+v", at, next, s.Stats(), before)
	}
	k.resolve(w)
	w = k.arm(s, 50)
	if at, _ := s.Next(); at != 50 || s.Stats().Pending != 1 {
		t.Errorf("armed for earlier: next look at %v, %+v", at, s.Stats())
	}
	v.Advance(50)
	if now := <-k.fired; now != 50 || k.resolve(w) {
		t.Errorf("fired at %v, or not resolved by it", now)
	}
}

// TestCoverAtEachDeadline: at every distance from what is linked, an armed owner fires at its deadline exactly.
func TestCoverAtEachDeadline(t *testing.T) {
	for _, first := range []clock.Instant{1, 2, 63, 64, 65, 127, 128, 130, 4096, 5000} {
		for _, second := range []clock.Instant{1, 2, 62, 63, 64, 65, 66, 127, 128, 129, 130, 131, 4095, 4096, 4097, 5000} {
			for _, wait := range []clock.Instant{0, 1, 63, 64, 100, 4096} {
				v := clock.NewVirtual()
				s := timer.NewService(v)
				k := newKeeper()
				k.now = v.Now
				if w := k.arm(s, first); wait < first {
					v.Advance(wait.Sub(0))
					if !k.resolve(w) {
						t.Fatalf("armed for %d: fired by %d", first, wait)
					}
				} else {
					v.Advance(first.Sub(0))
					<-k.fired
				}
				if second <= v.Now() {
					continue // the past: on another goroutine
				}
				k.arm(s, second)
				v.Advance(second.Sub(v.Now()) - 1)
				if len(k.fired) != 0 || k.early.Load() {
					t.Fatalf("%d, then from %d armed for %d: fired by %d", first, wait, second, v.Now())
				}
				v.Advance(1)
				if len(k.fired) != 1 {
					t.Fatalf("%d, then from %d armed for %d: did not fire", first, wait, second)
				}
			}
		}
	}
}

// TestCoverIdle: the entry of an idle owner is looked at once, and dropped.
func TestCoverIdle(t *testing.T) {
	v := clock.NewVirtual()
	s := timer.NewService(v)
	k := newKeeper()
	k.resolve(k.arm(s, 10))
	if st := s.Stats(); st.Pending != 1 {
		t.Errorf("idle: %+v", st)
	}
	v.Advance(100)
	if st := s.Stats(); st.Pending != 0 || st.Dropped != 1 || st.Fired != 0 || v.Jump() {
		t.Errorf("afterwards: %+v", st)
	}
}

// TestCoverHammer: owners that arm, resolve and wait, against drivers that are everywhere: the clock's, and a loop
// that expires. Who is armed and due has fired once a whole expiry has passed; nobody fires early.
func TestCoverHammer(t *testing.T) {
	const owners, rounds = 6, 5000
	seed := rand.Uint64()
	v := clock.NewVirtual()
	s := timer.NewService(v)
	var stop atomic.Bool
	var drivers, wg sync.WaitGroup
	all := make([]*keeper, owners)
	for i := range all {
		all[i] = newKeeper()
		all[i].now = v.Now
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		wg.Go(func() { all[i].rounds(v, s, rng, rounds) })
	}
	drivers.Go(func() {
		for !stop.Load() {
			s.Expire(v.Now())
			runtime.Gosched()
		}
	})
	drivers.Go(func() {
		for !stop.Load() && !t.Failed() {
			v.Advance(7)
			runtime.Gosched()
			for i, k := range all {
				w, now := k.covered.Load(), v.Now()
				if k.word.Load() != w || w%2 == 0 || clock.Instant(k.due.Load()) > now || k.word.Load() != w {
					continue
				}
				s.Expire(now)
				if k.word.Load() == w {
					t.Errorf("seed %d: owner %d, armed for %d, was not fired by a driver at %d", seed, i, k.due.Load(), now)
					k.word.CompareAndSwap(w, w+1)
					k.fired <- now
				}
			}
		}
	})
	wg.Wait()
	stop.Store(true)
	drivers.Wait()
	fired := int64(0)
	for i, k := range all {
		fired += k.chunk[1]
		if k.early.Load() {
			t.Errorf("seed %d: owner %d fired early", seed, i)
		}
		s.Cancel(&k.Entry)
	}
	t.Logf("seed %d: %d fired, %d resolved", seed, fired, owners*rounds-fired)
	if st := s.Stats(); fired == 0 || st.Fired != fired || st.Pending != 0 {
		t.Errorf("seed %d: %d firings received, %+v", seed, fired, st)
	}
}

// rounds arms for near and far, earlier and later than before, and leaves by resolving or by being fired.
func (k *keeper) rounds(v *clock.Virtual, s *timer.Service, rng *rand.Rand, n int) {
	for range n {
		now := v.Now()
		w := k.arm(s, now.Add(time.Duration(rng.IntN(1<<rng.IntN(9))-3)))
		if rng.IntN(3) > 0 {
			for range rng.IntN(1 << rng.IntN(9)) {
				v.Now() // a while
			}
			if k.resolve(w) {
				k.chunk[0]++
				continue
			}
		}
		<-k.fired
		k.chunk[1]++
	}
}
