package queue

import (
	"container/heap"

	"bide.invalid/bide/clock"
)

// lanes has a list for each distinct duration: time does not go back, so items of one duration come in order, and are
// filed behind each other. A binary heap has the lists that are not empty, by their first items. The duration of an
// item is its deadline minus the queue's now, so it matters that Expire is told the time before Schedule is called.
//
//	F1  a lane is in order
//	F2  heap[i] is not before heap[(i-1)/2], by its first item; heap[i].index == i; no lane of it is empty
//	F3  x.place is the number of x's lane
//
// insert and remove look up the duration, and are constant but where a lane gets another first item: then they are
// logarithmic in the number of lanes, as pop is; next is constant. With as many durations as items there are as
// many lanes, 100 and some bytes each. A lane that becomes empty is kept for a while: most are used again at once.
//
// Source: libevent's common timeouts, as its documentation describes them; there the user names the durations.
type lanes struct {
	by   map[clock.Instant]*lane
	all  []*lane // by number; nil: the number is free
	free []uint32
	heap laneHeap
	kept [idleLanes]*lane // that became empty, round and round; some are in use again
	hand int
}

type lane struct {
	items  ring
	d      clock.Instant
	number uint32
	index  int // negative: empty
	kept   bool
}

const idleLanes = 64

// NewLanes returns a queue with a list for each duration.
func NewLanes() Queue { return newTimers(&lanes{by: map[clock.Instant]*lane{}}) }

func (q *lanes) insert(x *Item) (isNext bool) {
	d := x.due - x.in.now
	l := q.by[d]
	if l == nil {
		l = q.open(d)
	}
	x.place = l.number
	l.items.push(x)
	if l.index >= 0 {
		return false
	}
	heap.Push(&q.heap, l)
	return l.index == 0
}

// open makes a lane.
func (q *lanes) open(d clock.Instant) *lane {
	l := &lane{d: d, index: -1}
	l.items.init()
	if end := len(q.free) - 1; end >= 0 {
		l.number, q.free = q.free[end], q.free[:end]
		q.all[l.number] = l
	} else {
		l.number = uint32(len(q.all))
		q.all = append(q.all, l)
	}
	q.by[d] = l
	return l
}

func (q *lanes) remove(x *Item) (wasNext bool) {
	l := q.all[x.place]
	wasNext = x.due == q.next()
	isFirst := l.items.front() == x
	unlink(x)
	switch {
	case !isFirst:
	case l.items.front() != nil:
		heap.Fix(&q.heap, l.index)
	default:
		heap.Remove(&q.heap, l.index)
		q.retire(l)
	}
	return wasNext
}

// retire keeps an empty lane, for another one that was kept long ago.
func (q *lanes) retire(l *lane) {
	if l.kept {
		return
	}
	if old := q.kept[q.hand]; old != nil {
		old.kept = false
		if old.index < 0 {
			delete(q.by, old.d)
			q.all[old.number] = nil
			q.free = append(q.free, old.number)
		}
	}
	l.kept = true
	q.kept[q.hand] = l
	q.hand = (q.hand + 1) % idleLanes
}

func (q *lanes) pop(now clock.Instant) *Item {
	if len(q.heap) == 0 {
		return nil
	}
	x := q.heap[0].items.front()
	if x.due > now {
		return nil
	}
	q.remove(x)
	return x
}

func (q *lanes) next() clock.Instant {
	if len(q.heap) == 0 {
		return clock.Forever
	}
	return q.heap[0].items.front().due
}

// laneHeap is what container/heap wants.
type laneHeap []*lane

func (h laneHeap) Len() int           { return len(h) }
func (h laneHeap) Less(i, j int) bool { return h[i].items.front().before(h[j].items.front()) }

func (h laneHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *laneHeap) Push(l any) {
	l.(*lane).index = len(*h)
	*h = append(*h, l.(*lane))
}

func (h *laneHeap) Pop() any {
	end := len(*h) - 1
	l := (*h)[end]
	l.index = -1
	(*h)[end] = nil
	*h = (*h)[:end]
	if end == 0 && cap(*h) > kept {
		*h = nil
	}
	return l
}
