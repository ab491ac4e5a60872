package queue

import (
	"container/heap"

	"bide.invalid/bide/clock"
)

// heap2 is a binary heap by the standard library's container/heap: the baseline, and libevent's structure.
//
//	B1  a[i] is not before a[(i-1)/2]
//	B2  a[i].place == i
//
// insert, remove and pop are logarithmic, by way of an interface, and every comparison visits two items; next is constant.
//
// Source: Williams, "Algorithm 232: Heapsort" (CACM 1964).
type heap2 struct{ a binaryHeap }

// NewBinaryHeap returns a binary heap.
func NewBinaryHeap() Queue { return newTimers(new(heap2)) }

func (q *heap2) insert(x *Item) (isNext bool) {
	heap.Push(&q.a, x)
	return x.place == 0
}

func (q *heap2) remove(x *Item) (wasNext bool) {
	wasNext = x.due == q.a[0].due
	heap.Remove(&q.a, int(x.place))
	return wasNext
}

func (q *heap2) pop(now clock.Instant) *Item {
	if len(q.a) == 0 || q.a[0].due > now {
		return nil
	}
	return heap.Pop(&q.a).(*Item)
}

func (q *heap2) next() clock.Instant {
	if len(q.a) == 0 {
		return clock.Forever
	}
	return q.a[0].due
}

// binaryHeap is what container/heap wants.
type binaryHeap []*Item

func (a binaryHeap) Len() int           { return len(a) }
func (a binaryHeap) Less(i, j int) bool { return a[i].before(a[j]) }

func (a binaryHeap) Swap(i, j int) {
	a[i], a[j] = a[j], a[i]
	a[i].place, a[j].place = uint32(i), uint32(j)
}

func (a *binaryHeap) Push(x any) {
	x.(*Item).place = uint32(len(*a))
	*a = append(*a, x.(*Item))
}

func (a *binaryHeap) Pop() any {
	end := len(*a) - 1
	x := (*a)[end]
	(*a)[end] = nil
	*a = (*a)[:end]
	if end == 0 && cap(*a) > kept {
		*a = nil
	}
	return x
}
