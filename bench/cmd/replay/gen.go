package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer/queue"
)

// generators make traces of so many timers. All numbers are integers: the same seed gives the same bytes everywhere.
var generators = map[string]func(w *world, n int){
	"requests": requests,
	"idle":     idle,
	"sleeps":   sleeps,
}

const maxTimers = 50_000_000

// A world is a simulated program, and the trace of its timers. What happens in it, happens in the order of a queue.
type world struct {
	rng    *rand.Rand
	events queue.Queue
	now    clock.Instant

	out    func(b []byte) error
	b      []byte
	before clock.Instant
	err    error

	free []uint32
	used uint32
}

// generate writes a trace to a file.
func generate(name string, n int, seed uint64, file string) (err error) {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() {
		if closed := f.Close(); err == nil {
			err = closed
		}
	}()
	return generateTo(func(b []byte) error { _, err := f.Write(b); return err }, name, n, seed)
}

// generateTo gives a trace to out, piece by piece.
func generateTo(out func(b []byte) error, name string, n int, seed uint64) error {
	w := &world{rng: rand.New(rand.NewPCG(seed, uint64(len(name)))), events: queue.NewHeap4(), out: out}
	w.b, _ = queue.AppendHeader(make([]byte, 0, 1<<16))
	generators[name](w, n)
	w.flush()
	if w.err != nil {
		return fmt.Errorf("the trace is not complete: %w", w.err)
	}
	return nil
}

func (w *world) flush() {
	if w.err == nil {
		w.err = w.out(w.b)
	}
	w.b = w.b[:0]
}

// record appends an operation that happens now.
func (w *world) record(op queue.Op) {
	op.Now = w.now
	b, ok := queue.AppendOp(w.b, w.before, op)
	if !ok {
		w.flush()
		b, _ = queue.AppendOp(w.b, w.before, op)
	}
	w.b, w.before = b, op.Now
}

// begin records that a timer was scheduled, and returns its id.
func (w *world) begin(at clock.Instant) (id uint32) {
	if end := len(w.free) - 1; end >= 0 {
		id, w.free = w.free[end], w.free[:end]
	} else {
		id = w.used
		w.used++
	}
	w.record(queue.Op{Kind: queue.Scheduled, ID: id, At: at})
	return id
}

// end records that one was canceled, or fired.
func (w *world) end(id uint32, kind queue.Kind) {
	w.record(queue.Op{Kind: kind, ID: id})
	w.free = append(w.free, id)
}

// An event is something that goes on at an instant. It returns when it goes on again; Forever: it does not.
type event struct {
	queue.Item
	goesOn func(e *event) (again clock.Instant)
	id     uint32
	due    clock.Instant // of a connection: its deadline
	more   int
}

// at makes an event.
func (w *world) at(at clock.Instant, goesOn func(e *event) clock.Instant) *event {
	e := &event{goesOn: goesOn}
	e.Value = e
	w.events.Schedule(&e.Item, at)
	return e
}

// run lets everything happen.
func (w *world) run() {
	var buf [1]*queue.Item
	for w.err == nil {
		at, ok := w.events.Next()
		if !ok {
			return
		}
		w.now = at
		if w.events.Expire(at, buf[:]) == 0 {
			continue
		}
		e := buf[0].Value.(*event)
		if again := e.goesOn(e); again != clock.Forever {
			w.events.Schedule(&e.Item, again)
		}
	}
}

// about is a duration of 0 to twice the mean.
func (w *world) about(mean time.Duration) time.Duration {
	return time.Duration(w.rng.Int64N(2*int64(mean) + 1))
}

// requests are n requests within ten seconds, each with a timeout: of 30, 5, or 1 s, as someone wrote into a file, but
// for a few that come with a deadline of their own. Most are answered after about 40 ms, some after seconds; one out of
// a hundred is not answered, and times out.
func requests(w *world, n int) {
	between := 10 * time.Second / time.Duration(n)
	left := n
	w.at(1, func(arrivals *event) clock.Instant {
		timeout := 5 * time.Second
		switch k := w.rng.IntN(100); {
		case k < 5:
			timeout = 100*time.Millisecond + w.about(20*time.Second)
		case k < 15:
			timeout = time.Second
		case k < 35:
			timeout = 30 * time.Second
		}
		deadline := w.now.Add(timeout)
		answer := w.now.Add(w.about(40 * time.Millisecond))
		kind := queue.Canceled
		switch k := w.rng.IntN(1000); {
		case k < 10:
			answer, kind = deadline, queue.Fired
		case k < 50:
			answer = w.now.Add(w.about(timeout / 2))
		}
		if answer >= deadline {
			answer, kind = deadline, queue.Fired
		}
		id := w.begin(deadline)
		w.at(answer, func(*event) clock.Instant {
			w.end(id, kind)
			return clock.Forever
		})
		if left--; left == 0 {
			return clock.Forever
		}
		return w.now.Add(w.about(between))
	})
	w.run()
}

// idle are n connections with a timeout of a minute, which every operation pushes back: about twenty a connection, one a
// second, in bursts. Then nine out of ten are closed, and the others forgotten, so that their timeout comes.
func idle(w *world, n int) {
	const patience = time.Minute
	for range n {
		c := w.at(1+clock.Instant(w.about(5*time.Second)), func(c *event) clock.Instant {
			switch {
			case c.more < 0: // forgotten
				w.end(c.id, queue.Fired)
				return clock.Forever
			case c.due == 0:
				c.due = w.now.Add(patience)
				c.id = w.begin(c.due)
			case c.more == 0:
				w.end(c.id, queue.Canceled)
				return clock.Forever
			default:
				c.due = w.now.Add(patience)
				w.record(queue.Op{Kind: queue.Moved, ID: c.id, At: c.due})
			}
			c.more--
			switch {
			case c.more == 0 && w.rng.IntN(10) == 0:
				c.more = -1
				return c.due
			case w.rng.IntN(4) == 0:
				return w.now.Add(w.about(4 * time.Second))
			}
			return w.now.Add(w.about(10 * time.Millisecond))
		})
		c.more = 2 + w.rng.IntN(40)
	}
	w.run()
}

// sleeps are n sleeps, fifty one after the other of each task, as long as it takes a task to work in between: of
// 2^17 to 2^33 ns (0.1 ms to 9 s), each power as likely. All come.
func sleeps(w *world, n int) {
	const each = 50
	task := func(s *event) clock.Instant {
		if s.due != 0 {
			w.end(s.id, queue.Fired)
			s.due = 0
			if s.more == 0 {
				return clock.Forever
			}
			return w.now.Add(w.about(time.Millisecond))
		}
		s.more--
		d := time.Duration(1) << (17 + w.rng.IntN(16))
		s.due = w.now.Add(d + time.Duration(w.rng.Int64N(int64(d))))
		s.id = w.begin(s.due)
		return s.due
	}
	for ; n > 0; n -= each {
		w.at(1+clock.Instant(w.about(time.Second)), task).more = min(n, each)
	}
	w.run()
}
