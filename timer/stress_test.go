package timer_test

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/stress"
	"bide.invalid/bide/timer"
)

// subject is a timer and what its one user knows: whether a call is to come, from when on, and how many calls that
// were no longer prevented have yet to arrive.
type subject struct {
	t  *testing.T
	tm *timer.Timer

	mu   sync.Mutex
	cond sync.Cond
	due  clock.Instant
	live bool
	owed int
	n    int
}

func newSubject(t *testing.T, d time.Duration, opts ...timer.Option) *subject {
	s := &subject{t: t, due: clock.After(d), live: true}
	s.cond.L = &s.mu
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tm = timer.AfterFunc(d, s.call, opts...)
	return s
}

func (s *subject) call() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n++
	switch now := clock.Now(); {
	case s.live && now >= s.due:
		s.live = false
	case s.owed > 0:
		s.owed--
	case s.live:
		s.t.Errorf("%v early", s.due.Sub(now))
		s.live = false
	default:
		s.t.Error("a call that was prevented, or came before")
	}
	s.cond.Broadcast()
}

func (s *subject) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prevented(s.tm.Stop())
	s.live = false
}

// prevented notes the report of a Stop or Reset. Which of two arms a call belonged to is not known: it was taken for
// the later one's, and here it may turn out to have been the earlier one's.
func (s *subject) prevented(was bool) {
	switch {
	case was && !s.live && s.owed > 0:
		s.owed--
	case was && !s.live:
		s.t.Error("prevented a call that was not to come")
	case !was && s.live:
		s.owed++ // it is on its way
	}
}

func (s *subject) reset(d time.Duration, absolute bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	due := clock.After(d)
	if absolute {
		s.prevented(s.tm.ResetAt(due))
	} else {
		s.prevented(s.tm.Reset(d))
	}
	s.due, s.live = due, true
}

func (s *subject) stopWait() {
	if !s.tm.StopWait() {
		s.t.Error("StopWait: false")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live {
		s.owed++
	}
	if s.owed > 1 { // it does not report whether it prevented one
		s.t.Errorf("after StopWait %d calls are still to come", s.owed)
	}
	s.live, s.owed = false, 0
}

// aim stops the timer when it is due, give or take 50 microseconds, and what the alarm is late.
func (s *subject) aim(rng *rand.Rand) {
	const tick = 1 << 20
	s.reset(time.Duration(40+rng.IntN(360))*time.Microsecond, false)
	s.mu.Lock()
	look := (s.due + tick - 1) / tick * tick
	s.mu.Unlock()
	for at := look.Add(time.Duration(rng.IntN(200)-50) * time.Microsecond); clock.Now() < at; {
		runtime.Gosched()
	}
	s.stop()
}

// rest waits for the calls that are to come; the watchdog ends the wait.
func (s *subject) rest(lost *atomic.Bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.live || s.owed > 0 {
		if lost.Load() {
			s.t.Errorf("lost: a call is to come %v, since %v; %d are on their way", s.live, clock.Now().Sub(s.due), s.owed)
			return
		}
		s.cond.Wait()
	}
}

// TestStressRealTime: everything at once, against the real clock: nothing early, nothing lost, nothing twice.
func TestStressRealTime(t *testing.T) {
	seed, end := stress.Seed(t), clock.After(stress.Time(t))
	var lost, over atomic.Bool
	var subjects, fresh [8][]*subject
	var wg, drivers sync.WaitGroup
	for g := range 8 {
		rng := rand.New(rand.NewPCG(seed, uint64(g)))
		if g < 2 {
			k := newKeeper()
			k.now = clock.Now
			wg.Go(func() { stressKeeper(t, k, rng, end) })
			continue
		}
		for i := range 20 {
			opts := [][]timer.Option{nil, {timer.Inline()}}[i%2]
			subjects[g] = append(subjects[g], newSubject(t, time.Hour, opts...))
		}
		wg.Go(func() { fresh[g] = stressTimers(t, subjects[g], rng, end) })
	}
	drivers.Go(func() { // one more driver
		for !over.Load() {
			timer.Default().Expire(clock.Now())
			tick := make(chan struct{})
			time.AfterFunc(100*time.Microsecond, func() { close(tick) })
			<-tick
		}
	})
	watchdog := time.AfterFunc(stress.Time(t)+30*time.Second, func() {
		lost.Store(true)
		for g := range subjects {
			for _, s := range slices.Concat(subjects[g], fresh[g]) {
				s.mu.Lock()
				s.cond.Broadcast()
				s.mu.Unlock()
			}
		}
	})
	wg.Wait()
	calls := 0
	for g := range subjects {
		for _, s := range slices.Concat(subjects[g], fresh[g]) {
			s.rest(&lost)
			calls += s.n
		}
	}
	watchdog.Stop()
	over.Store(true)
	drivers.Wait()
	t.Logf("%d calls; %+v", calls, timer.Default().Stats())
}

// stressTimers returns the timers that it made and left alone.
func stressTimers(t *testing.T, own []*subject, rng *rand.Rand, end clock.Instant) (fresh []*subject) {
	delay := func() time.Duration {
		if rng.IntN(20) == 0 {
			return time.Duration(rng.IntN(100)) * time.Millisecond
		}
		return time.Duration(rng.IntN(1 << rng.IntN(23)))
	}
	for i := 0; clock.Now() < end; i++ {
		s := own[rng.IntN(len(own))]
		switch rng.IntN(12) {
		case 0, 1, 2, 3:
			s.stop()
		case 4:
			s.stopWait()
		case 5, 6:
			s.reset(delay(), true)
		case 7:
			if rng.IntN(20) == 0 {
				s.aim(rng)
			}
		default:
			s.reset(delay(), false)
		}
		if i%64 == 0 {
			fresh = append(fresh, newSubject(t, delay()))
		}
	}
	for _, s := range own {
		s.reset(delay(), false)
	}
	return fresh
}

// stressKeeper arms a sticky owner, and resolves or waits; now and then it takes the entry out.
func stressKeeper(t *testing.T, k *keeper, rng *rand.Rand, end clock.Instant) {
	s := timer.Default()
	for clock.Now() < end {
		due := clock.After(time.Duration(rng.IntN(1 << rng.IntN(22))))
		w := k.arm(s, due)
		if rng.IntN(100) == 0 || clock.Now() >= due {
			<-k.fired
		} else if !k.resolve(w) {
			<-k.fired
		}
		if rng.IntN(50) == 0 {
			s.Cancel(&k.Entry)
		}
	}
	s.Cancel(&k.Entry)
	if k.early.Load() || len(k.fired) != 0 {
		t.Errorf("a sticky owner was fired early: %v; or twice: %d", k.early.Load(), len(k.fired))
	}
}
