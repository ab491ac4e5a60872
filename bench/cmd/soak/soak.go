package main

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"bide.invalid/bide/bench/internal/pair"
	"bide.invalid/bide/timer"
)

// A plan is what is soaked.
type plan struct {
	length time.Duration // of all that is shown
	conns  int
	seed   uint64
}

const (
	rows  = 12 // of the table; thirds are compared
	third = rows / 3

	// step is how often connections are used. Between two uses of one lies a quarter of its limit, on average and at
	// random, so that one use in fifty comes too late.
	step    = 10 * time.Millisecond
	quarter = 4
)

// limit is the middle one; they are half as long to half as long again. It is short against a row.
func (p plan) limit() time.Duration { return min(2*time.Second, p.length/rows/5) }

// A soak is under way.
type soak struct {
	plan
	rng   *rand.Rand
	conns []conn
	limit time.Duration

	mu      sync.Mutex
	late    []int64 // of this row's timeouts
	expired map[conn]bool
	early   int
}

// A row is what happened in a twelfth of the time, and what there was at its end.
type row struct {
	at              time.Duration
	pushed, expired int
	opened          int // anew, since they had expired
	late            pair.Figures
	heap, taken     uint64 // bytes that are reachable; bytes that the process has from the system
	pending         int
	goroutines      int
}

// run soaks, and calls show with each row. Before the first there is one that warms up. wrong is what is not right when
// every connection is closed.
func (p plan) run(show func(row)) (all []row, wrong []string) {
	before, goroutines := timer.Default().Stats().Pending, runtime.NumGoroutine()
	s := &soak{plan: p, rng: rand.New(rand.NewPCG(p.seed, 0)), conns: make([]conn, p.conns), limit: p.limit(), expired: map[conn]bool{}}
	for i := range s.conns {
		s.open(i)
	}
	start := time.Now()
	for i := range rows + 1 {
		r := s.measure()
		if i == 0 {
			start = time.Now()
			continue
		}
		r.at = time.Since(start)
		all = append(all, r)
		show(r)
	}
	for _, c := range s.conns {
		c.close()
	}
	s.conns = nil
	for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > goroutines && time.Now().Before(deadline); {
		time.Sleep(step) // what was told while it was closed
	}
	if n := timer.Default().Stats().Pending; n > before {
		wrong = append(wrong, fmt.Sprintf("%d entries are pending although every connection is closed", n-before))
	}
	if n := runtime.NumGoroutine(); n > goroutines {
		wrong = append(wrong, fmt.Sprintf("%d goroutines are left although every connection is closed", n-goroutines))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.early > 0 {
		wrong = append(wrong, fmt.Sprintf("%d timeouts came early", s.early))
	}
	return all, wrong
}

// open opens connection i, or opens it anew.
func (s *soak) open(i int) {
	limit := s.limit/2 + time.Duration(s.rng.Int64N(int64(s.limit)))
	if i%2 == 0 {
		s.conns[i] = openOwner(limit, s.tell)
	} else {
		s.conns[i] = openScope(limit, s.tell)
	}
}

// tell is called by a connection when its time is over, on any goroutine.
func (s *soak) tell(c conn, late time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expired[c] = true
	s.late = append(s.late, int64(late))
	if late < 0 {
		s.early++
	}
}

// measure uses connections at random, as many in each step as the time since the last one wants. One whose time is over is
// closed when it is to be used, and opened anew.
func (s *soak) measure() (r row) {
	ticks := time.NewTicker(step)
	defer ticks.Stop()
	start, done := time.Now(), 0
	for elapsed := time.Duration(0); elapsed < s.length/rows; {
		<-ticks.C
		elapsed = time.Since(start)
		for want := int(float64(len(s.conns)) * quarter * float64(elapsed) / float64(s.limit)); done < want; done++ {
			i := s.rng.IntN(len(s.conns))
			if c := s.conns[i]; s.over(c) {
				c.close()
				s.open(i)
				r.opened++
			} else {
				c.push()
				r.pushed++
			}
		}
	}
	r.heap = pair.Heap()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	r.taken, r.pending, r.goroutines = m.Sys-m.HeapReleased, timer.Default().Stats().Pending, runtime.NumGoroutine()
	s.mu.Lock()
	defer s.mu.Unlock()
	r.expired = len(s.late)
	if r.expired > 0 {
		r.late = pair.Lates(s.late)
	}
	s.late = s.late[:0]
	return r
}

// over reports whether c's time is, and forgets it.
func (s *soak) over(c conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	over := s.expired[c]
	delete(s.expired, c)
	return over
}
