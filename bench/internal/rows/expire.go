package rows

import (
	"fmt"
	"sync/atomic"
	"time"

	"bide.invalid/bide/bench/internal/pair"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// A crowd is many timers that all come due within a second. Each notes when it was called.
type crowd struct {
	due  []clock.Instant // the same for both sides: an instant is a reading of Go's monotonic clock
	late []int64
	left atomic.Int64
	done chan struct{}
}

// came is called by timer i when it fires.
func (c *crowd) came(i int) {
	c.late[i] = int64(clock.Now().Sub(c.due[i]))
	if c.left.Add(-1) == 0 {
		close(c.done)
	}
}

// A method is one way to have timer i call c.came(i) at c.due[i], for all i.
type method struct {
	name  string
	start func(c *crowd) (stop func())
}

const stdExpires = "time.AfterFunc"

var expiring = []method{
	{stdExpires, func(c *crowd) func() {
		all := make([]*time.Timer, len(c.due))
		for i := range all {
			all[i] = time.AfterFunc(c.due[i].Sub(clock.Now()), func() { c.came(i) })
		}
		return func() {
			for _, t := range all {
				t.Stop()
			}
		}
	}},
	{"owner", func(c *crowd) func() {
		s, all := timer.Default(), make([]member, len(c.due))
		for i := range all {
			m := &all[i]
			m.c, m.i = c, i
			m.Init(m)
			s.Schedule(&m.Entry, c.due[i])
		}
		return func() {
			for i := range all {
				s.Cancel(&all[i].Entry)
			}
		}
	}},
	{"AfterFunc, Inline", ourCrowd(timer.Inline())},
	{"AfterFunc", ourCrowd()},
}

// A member is an owner in a crowd.
type member struct {
	timer.Entry
	c *crowd
	i int
}

func (m *member) Due(now clock.Instant) (clock.Instant, bool) {
	if due := m.c.due[m.i]; due > now {
		return due, false
	}
	return clock.Forever, true
}

func (m *member) Fire(clock.Instant) { m.c.came(m.i) }

func ourCrowd(opts ...timer.Option) func(c *crowd) func() {
	return func(c *crowd) func() {
		all := make([]*timer.Timer, len(c.due))
		for i := range all {
			all[i] = timer.AfterFunc(c.due[i].Sub(clock.Now()), func() { c.came(i) }, opts...)
		}
		return func() {
			for _, t := range all {
				t.Stop()
			}
		}
	}
}

// runExpire lets n timers come due at random within span, side by side.
func runExpire(r *pair.Run, n int, span time.Duration) error {
	n, span = r.Scale(n), time.Duration(r.Scale(int(span)))
	for r.Next() {
		for _, side := range expiring {
			f, err := expire(side, n, span)
			if err != nil {
				return err
			}
			r.Record(side.name, f)
			pair.Settle()
		}
	}
	return nil
}

// expire starts the timers ahead of time, so that the figures have the expiring only. If that took longer than it was
// given, on a busy machine, it begins anew.
func expire(side method, n int, span time.Duration) (pair.Figures, error) {
	ahead := 20*time.Millisecond + time.Duration(n)*1500
	for ahead < 10*time.Minute {
		c := &crowd{due: make([]clock.Instant, n), late: make([]int64, n), done: make(chan struct{})}
		c.left.Store(int64(n))
		began := clock.Now()
		start, rng := began.Add(ahead), dice()
		for i := range c.due {
			c.due[i] = start.Add(time.Duration(rng.Int64N(int64(span))))
		}
		stop := side.start(c)
		pair.Settle()
		if took := clock.Now().Sub(began); took > ahead {
			stop()
			pair.Settle()
			ahead = 2 * took
			continue
		}
		before, err := pair.CPUTime()
		if err != nil {
			return nil, err
		}
		<-c.done
		after, err := pair.CPUTime()
		f := pair.Lates(c.late)
		f[pair.CPU] = float64(after-before) / float64(n)
		return f, err
	}
	return nil, fmt.Errorf("%s: %d timers are not made within minutes", side.name, n)
}

// linesExpire judges owners: a wheel's own entries are what the targets are about. What AfterFunc adds to them is shown.
func linesExpire(cheaper float64, p99 time.Duration) []pair.Line {
	lines := []pair.Line{
		{Case: "owner", Ours: "owner", Rival: stdExpires, Of: pair.CPU, Target: pair.AtLeast(cheaper)},
		{Case: "owner", Ours: "owner", Of: pair.Late(99), Target: pair.AtMost(float64(p99))},
	}
	for _, ours := range []string{"owner", "AfterFunc, Inline", "AfterFunc"} {
		if ours != "owner" {
			lines = append(lines, pair.Line{Case: ours, Ours: ours, Rival: stdExpires, Of: pair.CPU})
		}
		lines = append(lines,
			pair.Line{Case: ours, Ours: ours, Rival: stdExpires, Of: pair.Late(50)},
			pair.Line{Case: ours, Ours: ours, Rival: stdExpires, Of: pair.Late(99)},
		)
	}
	return lines
}
