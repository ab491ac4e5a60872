package rows

import (
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"time"

	"bide.invalid/bide/bench/internal/pair"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer/queue"
)

// P18: RFC 12's table. The default's wheel beside the first of all other queues that are meant for so many, each
// operation a pair that leaves as many in as before; deadlines at random within a minute. The longest single operation
// is the wheel's alone: go test -bench Queue ./timer/queue has everybody's. Some queues allocate, and a cycle of the
// collector that one has started makes each store of a pointer dearer for whoever's turn it is.
var p18 = pair.Row{
	Name: "P18", Title: "the default's queue beside all others", NoGC: true,
	Run:   runP18,
	Lines: linesP18(),
}

var (
	fillings = []int{100, 10_000, 1_000_000}
	doings   = []string{"insert+delete", "insert+pop", "mixed"}
)

// inMillions are the queues that are filled with a million: the others take too long to make.
var inMillions = []string{"wheel", "heap4", "wheel-noncascading", "wheel-slab", "heap4-lazy", "pairing", "skiplist"}

const firstOther = "the first of the others"

func doing(name string, n int) string { return fmt.Sprintf("@%s, %d", name, n) }

func linesP18() (lines []pair.Line) {
	for _, n := range fillings {
		for _, name := range doings {
			at, target := doing(name, n), pair.Within(1.1)
			rival := firstOther
			if name == "insert+pop" && n == 1_000_000 { // the wheel moves survivors
				rival, target = "heap4", pair.Within(1.3)
			}
			lines = append(lines, pair.Line{Case: at[1:], Ours: "wheel" + at, Rival: rival + at, Of: pair.Ns, Target: target})
			for _, other := range []string{"heap4", "pairing", "skiplist"} {
				if other != rival {
					lines = append(lines, pair.Line{Case: at[1:], Ours: "wheel" + at, Rival: other + at, Of: pair.Ns})
				}
			}
		}
	}
	return append(lines,
		pair.Line{Case: "longest Schedule or Cancel, 1M", Ours: "wheel@worst", Of: pair.Ns, Target: pair.AtMost(100e3)},
		pair.Line{Case: "longest Expire, which cascades, 1M", Ours: "wheel@worst Expire", Of: pair.Ns, Target: pair.AtMost(1.5e6)})
}

func runP18(r *pair.Run) error {
	for _, full := range fillings {
		n := r.Scale(full)
		var loads []*filled
		for _, c := range queue.All() {
			if c.Max == 0 && (full < 1_000_000 || slices.Contains(inMillions, c.Name)) {
				loads = append(loads, fill(c, n))
			}
		}
		for r.Next() {
			for i, name := range doings {
				at, first := doing(name, full), 0.0
				for _, l := range loads {
					ns := l.each(i)
					r.Record(l.name+at, pair.Figures{pair.Ns: ns})
					if l.name != "wheel" && (first == 0 || ns < first) {
						first = ns
					}
				}
				r.Record(firstOther+at, pair.Figures{pair.Ns: first})
			}
		}
	}
	debug.SetGCPercent(100) // the collector is a part of the longest
	own, expire := worst(queue.All()[0], r.Scale(1_000_000))
	for r.Next() {
		r.Record("wheel@worst", pair.Figures{pair.Ns: float64(own)})
		r.Record("wheel@worst Expire", pair.Figures{pair.Ns: float64(expire)})
	}
	return nil
}

// filled is a queue with n items.
type filled struct {
	name  string
	q     queue.Queue
	items []queue.Item
	now   clock.Instant
	rng   *rand.Rand
	buf   [1]*queue.Item

	// took is told of each operation of the queue: nil where nobody asks for the longest.
	took  func(expire bool, d time.Duration)
	start time.Time
}

func fill(c queue.Candidate, n int) *filled {
	l := &filled{name: c.Name, q: c.New(), items: make([]queue.Item, n), rng: rand.New(rand.NewPCG(1, 2))}
	for i := range l.items {
		l.q.Schedule(&l.items[i], l.deadline())
	}
	for range n / 2 { // a pairing heap is another one after its first pops
		l.pop()
	}
	return l
}

func (l *filled) deadline() clock.Instant {
	return l.now + 1 + clock.Instant(l.rng.Int64N(int64(time.Minute)))
}

// begin and end are around an operation of the queue.
func (l *filled) begin() {
	if l.took != nil {
		l.start = time.Now()
	}
}

func (l *filled) end(expire bool) {
	if l.took != nil {
		l.took(expire, time.Since(l.start))
	}
}

// delete cancels an item and schedules it again.
func (l *filled) delete() {
	x, at := &l.items[l.rng.IntN(len(l.items))], l.deadline()
	l.begin()
	l.q.Cancel(x)
	l.end(false)
	l.schedule(x, at)
}

// pop expires the first and schedules it again.
func (l *filled) pop() {
	for done := 0; done == 0; {
		l.begin()
		at, _ := l.q.Next()
		l.now = max(l.now, at)
		done = l.q.Expire(l.now, l.buf[:])
		l.end(true)
	}
	l.schedule(l.buf[0], l.deadline())
}

func (l *filled) schedule(x *queue.Item, at clock.Instant) {
	l.begin()
	l.q.Schedule(x, at)
	l.end(false)
}

// pairs does n pairs of a kind.
func (l *filled) pairs(kind, n int) {
	for i := range n {
		if kind == 0 || kind == 2 && i%4 != 0 {
			l.delete()
		} else {
			l.pop()
		}
	}
}

// each is what a pair takes.
func (l *filled) each(kind int) float64 {
	const n = 20_000
	start := time.Now()
	l.pairs(kind, n)
	return float64(time.Since(start)) / n
}

// worst is the longest operation of many, each the least of three runs of the same: others do not disturb the same
// one three times.
func worst(c queue.Candidate, n int) (own, expire time.Duration) {
	var least []time.Duration
	var kinds []bool
	for range 3 {
		l, i := fill(c, n), 0
		l.took = func(expire bool, d time.Duration) {
			if i == len(least) {
				least, kinds = append(least, d), append(kinds, expire)
			}
			least[i] = min(least[i], d)
			i++
		}
		l.pairs(2, min(n, 200_000))
	}
	for i, d := range least {
		if kinds[i] {
			expire = max(expire, d)
		} else {
			own = max(own, d)
		}
	}
	return own, expire
}
