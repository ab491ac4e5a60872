package syncs

import (
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/invariant"
	"bide.invalid/bide/internal/step"
	"bide.invalid/bide/park"
)

// One registers and another fires, at the same moment, without parking, which would set them apart: so they meet at every
// step of each other. Whoever is still queued when both have gone by was lost.
func TestLitmusRegistration(t *testing.T) {
	if runtime.GOMAXPROCS(0) == 1 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	}
	for name, make := range map[string]func() litmus{
		"Event": func() litmus {
			e := new(Event)
			return litmus{e, e.Set, e.Queued}
		},
		"Future": func() litmus {
			f := new(Future[int])
			return litmus{f, func() { f.Set(1) }, f.Queued}
		},
		"WaitGroup": func() litmus {
			g := new(WaitGroup)
			g.Add(1)
			return litmus{g, g.Done, g.Queued}
		},
		"Sequencer": func() litmus {
			s := new(Sequencer)
			return litmus{s.At(1), s.Increment, s.Queued}
		},
		"Sequencer, Advance": func() litmus {
			s := new(Sequencer)
			return litmus{s.At(5), func() { s.Advance(9) }, s.Queued}
		},
		"Sequencer, Close": func() litmus {
			s := new(Sequencer)
			return litmus{s.At(1), s.Close, s.Queued}
		},
		"Futex": func() litmus {
			f := new(Futex)
			return litmus{f.s.At(1), f.Post, f.Queued}
		},
	} {
		t.Run(name, func(t *testing.T) {
			at := map[park.Outcome]int{}
			var x litmus
			p := newSpot()
			lost := 0
			inStep(func() { x.fire() }, func(i int, fire, fired func()) {
				x = make()
				p.t = p.w.Arm(clock.Forever)
				fire()
				idle(7 * i % 512)
				found := x.s.add(p.node(), p.w, p.t, park.Woken)
				fired()
				ended := p.ended()
				if x.queued() || found == park.Pending && ended == park.Self {
					lost++
				}
				x.s.remove(p.node())
				at[found]++
			})
			if lost != 0 {
				t.Errorf("lost %d", lost)
			}
			t.Logf("found by registering: %v", at)
		})
	}
}

// A counter that comes to 0, and is left again at once, while those who waited are still being released: they all go,
// and who waits for what was added then does not.
func TestLitmusWaitGroupAgain(t *testing.T) {
	if runtime.GOMAXPROCS(0) == 1 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	}
	var g WaitGroup
	p, q := newSpot(), newSpot()
	lost, early := 0, 0
	inStep(g.Done, func(_ int, done, isDone func()) {
		g.Add(1)
		p.add(&g)
		done()
		for spins := 0; g.Counter() != 0; spins++ {
			patiently(spins)
		}
		g.Add(1)
		found := q.add(&g)
		isDone()
		if p.ended() != park.Woken {
			lost++
		}
		if found != park.Pending || q.ended() != park.Self {
			early++
		}
		g.remove(p.node())
		g.remove(q.node())
		g.Done()
	})
	if lost != 0 || early != 0 || g.Queued() {
		t.Errorf("lost %d, early %d", lost, early)
	}
}

// inStep calls round some thousand times, as there is time, or 200 000 times with BIDE_STRESS. From the moment at which
// round calls start, other is called on another processor; end returns when that has returned.
func inStep(other func(), round func(i int, start, end func())) {
	var begun, ended atomic.Int64
	var over atomic.Bool
	var group sync.WaitGroup
	await := func(v *atomic.Int64, n int64) {
		for spins := 0; v.Load() < n; spins++ {
			patiently(spins)
		}
	}
	group.Go(func() {
		for i := int64(1); ; i++ {
			if await(&begun, i); over.Load() {
				return
			}
			other()
			ended.Store(i)
		}
	})
	rounds, soon := 200_000, time.Now().Add(time.Hour)
	switch {
	case step.On:
		rounds = 2000
	case os.Getenv("BIDE_STRESS") == "":
		rounds, soon = 20_000, time.Now().Add(150*time.Millisecond)
	}
	if testing.Short() {
		rounds /= 10
	}
	for i := 0; i < rounds && (i%64 != 0 || time.Now().Before(soon)); i++ {
		n := int64(i + 1)
		round(i, func() { begun.Store(n) }, func() { await(&ended, n) })
	}
	over.Store(true)
	begun.Add(1)
	group.Wait()
}

// patiently spins for so long that the other side is on another processor, if there is one.
func patiently(spins int) {
	if spins > 20_000 || invariant.On && spins > 200 {
		runtime.Gosched()
	}
}

// A litmus is one object: to register with it, to end the wait for it, and to ask whether somebody is queued.
type litmus struct {
	s      Waitable
	fire   func()
	queued func() bool
}

var idled atomic.Int64

// idle is n short rounds of a loop that is not optimized away.
func idle(n int) {
	for range n {
		idled.Load()
	}
}
