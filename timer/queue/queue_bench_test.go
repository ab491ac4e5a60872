package queue_test

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer/queue"
)

// BenchmarkQueue is RFC 12's comparison. A row's operation is a pair, so n stay in:
//
//	pop            the first is taken out, at its time, and scheduled again
//	mixed          one time out of four the pair above, else the one below
//	delete-random  a random item is canceled, and scheduled again
//	delete-recent  another item is scheduled and canceled: each time the one that has been out for longest
//
// with deadlines at random within a minute, or constant, 30 s ahead. The queues were settled before by n/2 pairs of
// the first kind. worst-ns is the longest single Schedule, Cancel or Expire with Next in a pass of its own, which reads
// the clock around each, on a queue that only inserts have built: of 100 000 pairs a row, each the least of three
// passes, since others do not disturb the same operation three times. The table takes about six minutes.
func BenchmarkQueue(b *testing.B) {
	for _, c := range queue.All() {
		for _, n := range []int{100, 10_000, 1_000_000} {
			if c.Max != 0 && n > c.Max || n > 10_000 && testing.Short() {
				continue
			}
			b.Run(fmt.Sprintf("%s/%d", c.Name, n), func(b *testing.B) {
				benchQueue(b, c, n, false)
				benchQueue(b, c, n, true)
			})
		}
	}
}

// benchQueue runs the rows of one queue for one kind of deadlines.
func benchQueue(b *testing.B, c queue.Candidate, n int, constant bool) {
	kind := map[bool]string{false: "random", true: "constant"}[constant]
	var l *load
	var worst []time.Duration
	for i, row := range rows {
		if constant && row.random {
			continue
		}
		b.Run(row.name+"/"+kind, func(b *testing.B) {
			if l == nil {
				worst = worstOf(c, n, constant)
				l = newLoad(c, n, constant)
				for range n / 2 {
					l.pop(free)
				}
			}
			for b.Loop() {
				row.op(l, free)
			}
			b.ReportMetric(float64(worst[i]), "worst-ns")
		})
	}
}

// rows begin with those that keep a pairing heap settled.
var rows = []struct {
	name   string
	op     func(l *load, t timed)
	random bool // with random deadlines only
}{
	{"pop", (*load).pop, false},
	{"mixed", (*load).mixed, true},
	{"delete-random", (*load).random, true},
	{"delete-recent", (*load).recent, false},
}

// A load is a queue with n items, and as many that are out.
type load struct {
	q        queue.Queue
	in       []*queue.Item
	out      []*queue.Item
	next     int // the one of out that was used longest ago
	now      clock.Instant
	constant bool
	rng      uint64
	buf      [1]*queue.Item
}

const (
	horizon = uint64(time.Minute)
	ahead   = 30 * time.Second
)

func newLoad(c queue.Candidate, n int, constant bool) *load {
	l := &load{q: c.New(), constant: constant, rng: 88172645463325252}
	items := make([]queue.Item, n+max(n/2, 1024))
	for i := range items {
		if i < n {
			l.in = append(l.in, &items[i])
		} else {
			l.out = append(l.out, &items[i])
		}
	}
	for _, x := range l.in {
		if constant { // they were scheduled one after the other
			l.now += clock.Instant(ahead) / clock.Instant(n)
			l.q.Expire(l.now, nil)
		}
		l.q.Schedule(x, l.deadline())
	}
	return l
}

// rand is xorshift: the benchmark is of queues.
func (l *load) rand() uint64 {
	l.rng ^= l.rng << 13
	l.rng ^= l.rng >> 7
	l.rng ^= l.rng << 17
	return l.rng
}

func (l *load) deadline() clock.Instant {
	if l.constant {
		return l.now + clock.Instant(ahead)
	}
	return l.now + 1 + clock.Instant(l.rand()%horizon)
}

// A timed is called around each operation of a queue, before it with true.
type timed func(begins bool)

func free(bool) {}

func (l *load) random(t timed) {
	x := l.in[l.rand()%uint64(len(l.in))]
	at := l.deadline()
	t(true)
	l.q.Cancel(x)
	t(false)
	t(true)
	l.q.Schedule(x, at)
	t(false)
}

func (l *load) recent(t timed) {
	if l.next++; l.next == len(l.out) {
		l.next = 0
	}
	x, at := l.out[l.next], l.deadline()
	t(true)
	l.q.Schedule(x, at)
	t(false)
	t(true)
	l.q.Cancel(x)
	t(false)
}

func (l *load) pop(t timed) {
	for done := 0; done == 0; {
		t(true)
		at, _ := l.q.Next()
		l.now = max(l.now, at)
		done = l.q.Expire(l.now, l.buf[:])
		t(false)
	}
	at := l.deadline()
	t(true)
	l.q.Schedule(l.buf[0], at)
	t(false)
}

func (l *load) mixed(t timed) {
	if l.rand()%4 == 0 {
		l.pop(t)
	} else {
		l.random(t)
	}
}

// worstOf is the longest operation of each row.
func worstOf(c queue.Candidate, n int, constant bool) []time.Duration {
	passes := 3
	if testing.Short() {
		passes = 1
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	least := make([][]time.Duration, len(rows))
	for range passes {
		l := newLoad(c, n, constant)
		runtime.GC()
		for r, row := range rows {
			i := 0
			var began time.Time
			row := func() {
				row.op(l, func(begins bool) {
					if begins {
						began = time.Now()
						return
					}
					d := time.Since(began)
					if i == len(least[r]) {
						least[r] = append(least[r], d)
					}
					least[r][i] = min(least[r][i], d)
					i++
				})
			}
			for range min(n, 100_000) {
				row()
			}
		}
	}
	worst := make([]time.Duration, len(rows))
	for r := range rows {
		worst[r] = slices.Max(least[r])
	}
	return worst
}
