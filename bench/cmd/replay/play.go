package main

import (
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer/queue"
)

// A side is one way to keep the timers of a trace: a queue for all, or one for each class.
type side struct {
	name   string
	of     [classes]queue.Candidate
	shared bool // both classes have the same queue
}

func one(c queue.Candidate) side {
	return side{c.Name, [classes]queue.Candidate{c, c}, true}
}

// A timer is a timer of the trace. An id may begin anew before the timer that had it comes: the queue's tick may be
// coarser than that of the recorded program's.
type timer struct {
	queue.Item
	class class // whose queue it belongs to; timeout: also if there is one for both
	used  bool  // by an id
	in    bool  // the queue has it
}

// A play is one replay.
type play struct {
	t      *trace
	of     [classes]queue.Queue
	all    []queue.Queue
	ids    [classes][]*timer
	spare  [classes][]*timer
	buf    [64]*queue.Item
	wakes  int
	pokes  int
	late   []time.Duration // of each that came; nil: not wanted
	timed  func(begins bool)
	played int // operations
}

// newPlay makes the timers before the queues, so that what the heap grows by later is the queues'.
func newPlay(t *trace, s side) *play {
	p := &play{t: t, timed: func(bool) {}}
	for c := range classes {
		p.ids[c] = make([]*timer, t.counts[c].ids)
		if c == timeout || !s.shared {
			timers := make([]timer, t.most+t.most/8+64)
			p.spare[c] = make([]*timer, 0, 2*len(timers))
			for i := range timers {
				timers[i].Value, timers[i].class = &timers[i], c
				p.spare[c] = append(p.spare[c], &timers[i])
			}
		}
	}
	return p
}

// open makes the queues.
func (p *play) open(s side) {
	p.of[timeout] = s.of[timeout].New()
	p.of[sleep] = p.of[timeout]
	p.all = p.of[:1]
	if !s.shared {
		p.of[sleep] = s.of[sleep].New()
		p.all = p.of[:]
	}
}

// run plays the trace up to an operation.
func (p *play) run(end int) {
	for ; p.played < end; p.played++ {
		o := &p.t.ops[p.played]
		p.until(o.Now)
		p.do(o)
	}
}

// until drives the queues up to now, and tells them the time.
func (p *play) until(now clock.Instant) {
	for {
		at := clock.Forever
		for _, q := range p.all {
			if next, ok := q.Next(); ok {
				at = min(at, next)
			}
		}
		if at > now || at == clock.Forever {
			break
		}
		p.wakes++
		for _, q := range p.all {
			for next, ok := q.Next(); ok && next <= at; next, ok = q.Next() {
				p.expire(q, at)
			}
		}
	}
	for _, q := range p.all {
		p.expire(q, now)
	}
}

func (p *play) expire(q queue.Queue, now clock.Instant) {
	p.timed(true)
	n := q.Expire(now, p.buf[:])
	p.timed(false)
	for _, x := range p.buf[:n] {
		t := x.Value.(*timer)
		if t.in = false; !t.used {
			p.spare[t.class] = append(p.spare[t.class], t)
		}
		if p.late != nil {
			p.late = append(p.late, now.Sub(x.Due()))
		}
	}
}

// do does one operation of the trace.
func (p *play) do(o *op) {
	q, at := p.of[o.class], &p.ids[o.class][o.ID]
	t := *at
	switch o.Kind {
	case queue.Scheduled:
		t = p.take(o.class)
		*at, t.used, t.in = t, true, true
		p.timed(true)
		isNext := q.Schedule(&t.Item, o.At)
		p.timed(false)
		if isNext {
			p.pokes++
		}
	case queue.Moved:
		t.in = true
		p.timed(true)
		isNext := q.Reschedule(&t.Item, o.At)
		p.timed(false)
		if isNext {
			p.pokes++
		}
	case queue.Canceled:
		p.timed(true)
		q.Cancel(&t.Item)
		p.timed(false)
		t.in = false
		p.drop(t)
	case queue.Fired: // or it will, by itself
		p.drop(t)
	}
}

// drop ends the life of an id.
func (p *play) drop(t *timer) {
	if t.used = false; !t.in {
		p.spare[t.class] = append(p.spare[t.class], t)
	}
}

func (p *play) take(c class) (t *timer) {
	if len(p.all) == 1 {
		c = timeout
	}
	end := len(p.spare[c]) - 1
	if end < 0 { // the queue is so late that many more are in than in the recorded program
		t = &timer{class: c}
		t.Value = t
		return t
	}
	t, p.spare[c] = p.spare[c][end], p.spare[c][:end]
	return t
}

// drain drives the queues until nothing comes any more.
func (p *play) drain() {
	for {
		at := clock.Forever
		for _, q := range p.all {
			if next, ok := q.Next(); ok {
				at = min(at, next)
			}
		}
		if at == clock.Forever {
			return
		}
		p.until(at)
	}
}
