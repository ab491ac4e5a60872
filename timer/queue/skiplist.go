package queue

import (
	"math/rand/v2"

	"bide.invalid/bide/clock"
)

// skipList is a list in the order of deadlines with express lanes: an item is in as many of the lists, from the lowest
// on, as its tower is high, and each further one has a quarter of the items.
//
//	K1  each list is in order, and has what the one below has and whose tower reaches it
//	K2  no list from height on has, or had, an item
//
// insert and remove search, logarithmic on average and by the luck of the towers only: the order of operations cannot
// make it worse. pop unlinks the first, as often as its tower is high; next is constant. Towers are allocated, and kept
// by the item. The seed is a constant: a run can be repeated.
//
// Source: Pugh, "Skip Lists: A Probabilistic Alternative to Balanced Trees" (CACM 1990), with p = 1/4.
type skipList struct {
	head   [maxTower]*Item
	height int
	rng    *rand.PCG
}

// maxTower is enough for a thousand million items.
const maxTower = 16

// NewSkipList returns a skip list.
func NewSkipList() Queue { return newTimers(&skipList{rng: rand.NewPCG(1, 4)}) }

// find fills links with what points, in each list, to the first item that is not before x.
func (s *skipList) find(x *Item, links *[maxTower]**Item) {
	tower := s.head[:]
	for l := s.height - 1; l >= 0; l-- {
		for n := tower[l]; n != nil && n.before(x); n = tower[l] {
			tower = n.tower
		}
		links[l] = &tower[l]
	}
}

func (s *skipList) insert(x *Item) (isNext bool) {
	height := 1
	for bits := s.rng.Uint64(); bits&3 == 0 && height < maxTower; bits >>= 2 {
		height++
	}
	s.height = max(s.height, height)
	var links [maxTower]**Item
	s.find(x, &links)
	if cap(x.tower) < height {
		x.tower = make([]*Item, height)
	}
	x.tower = x.tower[:height]
	for l := range x.tower {
		x.tower[l], *links[l] = *links[l], x
	}
	return s.head[0] == x
}

func (s *skipList) remove(x *Item) (wasNext bool) {
	wasNext = x.due == s.head[0].due
	var links [maxTower]**Item
	s.find(x, &links)
	s.unlink(x, &links)
	return wasNext
}

func (s *skipList) unlink(x *Item, links *[maxTower]**Item) {
	for l := range x.tower {
		*links[l], x.tower[l] = x.tower[l], nil
	}
}

func (s *skipList) pop(now clock.Instant) *Item {
	x := s.head[0]
	if x == nil || x.due > now {
		return nil
	}
	var links [maxTower]**Item
	for l := range x.tower {
		links[l] = &s.head[l]
	}
	s.unlink(x, &links)
	return x
}

func (s *skipList) next() clock.Instant {
	if x := s.head[0]; x != nil {
		return x.due
	}
	return clock.Forever
}
