package timer

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bide.invalid/bide/clock"
)

// procsRun keeps, for each shard of a service, the order in which its drivers found entries due.
type procsRun struct {
	t    *testing.T
	s    *Service
	left sync.WaitGroup
	logs []procsLog
}

// procsLog is guarded by the shard's lock.
type procsLog struct {
	last  clock.Instant // look
	found int
}

// punctual is an owner of a procsRun.
type punctual struct {
	Entry
	run    *procsRun
	due    atomic.Int64
	inTime atomic.Bool // it was linked before it was due
}

func newProcsRun(t *testing.T, shards int) *procsRun {
	s := newService(clock.Monotonic(), clock.Monotonic().NewAlarm, shards, coarse)
	return &procsRun{t: t, s: s, logs: make([]procsLog, shards)}
}

// add schedules a new entry, in the shard of this number as if it had been linked there before; 0: in that of the processor.
func (r *procsRun) add(shard int, due clock.Instant) *punctual {
	p := &punctual{run: r}
	p.Init(p)
	p.n.Tag = uint32(shard)
	r.left.Add(1)
	p.schedule(due)
	return p
}

func (p *punctual) schedule(due clock.Instant) {
	p.inTime.Store(false)
	p.due.Store(int64(due))
	p.run.s.Schedule(&p.Entry, due)
	p.inTime.Store(clock.Now() < due)
}

// Due: locked.
func (p *punctual) Due(look clock.Instant) (clock.Instant, bool) {
	due := clock.Instant(p.due.Load())
	if due > look {
		return due, false
	}
	log := &p.run.logs[p.n.Tag-1]
	if tick := (due + 1<<coarse - 1) >> coarse << coarse; p.inTime.Load() && look != tick {
		p.run.t.Errorf("an entry for tick %v was found at %v", tick, look)
	}
	if look < log.last {
		p.run.t.Errorf("shard %d: %v was looked at after %v", p.n.Tag, look, log.last)
	}
	log.last = look
	log.found++
	return clock.Forever, true
}

// Fire: not locked.
func (p *punctual) Fire(now clock.Instant) {
	if due := clock.Instant(p.due.Load()); now < due || clock.Now() < due {
		p.run.t.Errorf("%v early", due.Sub(now))
	}
	p.run.left.Done()
}

// found is how many were found due, and in how many shards.
func (r *procsRun) found() (n, shards int) {
	for i := range r.logs {
		sh := &r.s.shards[i]
		sh.mu.Lock()
		n += r.logs[i].found
		shards += min(1, r.logs[i].found)
		sh.mu.Unlock()
	}
	return n, shards
}

// TestGOMAXPROCSRealTime: shards stay when their processors go. What goroutines on eight processors have scheduled comes
// when there is but one, and again when there are eight, in each shard in the order of ticks, and not early; so does what
// is moved after the change.
func TestGOMAXPROCSRealTime(t *testing.T) {
	const procs, each = 8, 60
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
	r := newProcsRun(t, procs)
	want := 0
	for _, n := range []int{procs, 1, 3, procs, 1} {
		runtime.GOMAXPROCS(procs)
		var group sync.WaitGroup
		far := make([]*punctual, procs)
		for g := range procs {
			group.Go(func() {
				for i := range each {
					r.add(i%2*(g+1), clock.After(time.Duration(1+i*7%20)*time.Millisecond))
				}
				far[g] = r.add(g+1, clock.After(time.Hour))
			})
		}
		group.Wait()
		runtime.GOMAXPROCS(n)
		for _, p := range far {
			p.schedule(clock.After(5 * time.Millisecond))
		}
		r.left.Wait() // for ever, if one is lost
		want += procs * (each + 1)
		found, shards := r.found()
		if pending := r.s.Stats().Pending; found != want || pending != 0 || shards != procs {
			t.Errorf("GOMAXPROCS %d: %d were found due, want %d; %d pending; %d shards are in use", n, found, want, pending, shards)
		}
	}
}
