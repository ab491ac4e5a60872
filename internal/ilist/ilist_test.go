package ilist_test

import (
	"container/list"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"bide.invalid/bide/internal/ilist"
)

type elem struct {
	id    int
	links ilist.Links[elem]
}

func (e *elem) Links() *ilist.Links[elem] { return &e.links }

// pair is a list, and container/list's with the same elements.
type pair struct {
	l   ilist.List[elem, *elem]
	e   []elem
	ref *list.List
	at  []*list.Element // of each element in ref, or nil
}

func newPair(n int) *pair {
	p := &pair{e: make([]elem, n), ref: list.New(), at: make([]*list.Element, n)}
	for id := range p.e {
		p.e[id].id = id
	}
	return p
}

// An action is one of a few, on one element. It reports what it returned, from both.
const actions = 4

func (p *pair) do(action, id int) (got, want any, ok bool) {
	e := &p.e[id]
	switch action {
	case 0:
		if p.at[id] != nil {
			return nil, nil, false // a precondition
		}
		p.l.PushBack(e)
		p.at[id] = p.ref.PushBack(id)
	case 1:
		if p.at[id] != nil {
			return nil, nil, false
		}
		p.l.PushFront(e)
		p.at[id] = p.ref.PushFront(id)
	case 2:
		got, want = p.l.Remove(e), p.at[id] != nil
		if p.at[id] != nil {
			p.ref.Remove(p.at[id])
			p.at[id] = nil
		}
	case 3:
		got, want = -1, -1
		if e := p.l.PopFront(); e != nil {
			got = e.id
		}
		if front := p.ref.Front(); front != nil {
			want = front.Value
			p.at[front.Value.(int)] = nil
			p.ref.Remove(front)
		}
	}
	return got, want, true
}

// check compares both lists, all links, and what each element says of itself.
func (p *pair) check() (got, want []int, ok bool) {
	for e := p.l.Front(); e != nil && len(got) <= len(p.e); e = p.l.Next(e) {
		got = append(got, e.id)
	}
	for e := p.ref.Front(); e != nil; e = e.Next() {
		want = append(want, e.Value.(int))
	}
	ok = slices.Equal(got, want) && p.l.Empty() == (len(want) == 0)
	for id := range p.e {
		ok = ok && p.e[id].links.In() == (p.at[id] != nil)
	}
	return got, want, ok
}

// TestExhaustive takes every sequence of five actions on up to three elements.
func TestExhaustive(t *testing.T) {
	for n := 1; n <= 3; n++ {
		kinds := actions * n
		total := 1
		for range 5 {
			total *= kinds
		}
		for code := range total {
			p := newPair(n)
			for rest, i := code, 0; i < 5; i++ {
				got, want, ok := p.do(rest%kinds/n, rest%n)
				if !ok {
					break
				}
				if got != want {
					t.Fatalf("sequence %d, action %d: returned %v, want %v", code, i, got, want)
				}
				rest /= kinds
			}
			if got, want, ok := p.check(); !ok {
				t.Fatalf("sequence %d on %d elements: %v, want %v", code, n, got, want)
			}
		}
	}
}

// TestModel: long random sequences on more elements.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := newPair(8)
		for range rapid.IntRange(1, 200).Draw(t, "n") {
			action, id := rapid.IntRange(0, actions-1).Draw(t, "action"), rapid.IntRange(0, len(p.e)-1).Draw(t, "id")
			if got, want, _ := p.do(action, id); got != want {
				t.Fatalf("returned %v, want %v", got, want)
			}
			if got, want, ok := p.check(); !ok {
				t.Fatalf("%v, want %v", got, want)
			}
		}
	})
}

// TestZero: the zero list is empty, the zero links are in none.
func TestZero(t *testing.T) {
	var l ilist.List[elem, *elem]
	e := new(elem)
	if !l.Empty() || l.Front() != nil || l.PopFront() != nil || l.Remove(e) || e.links.In() {
		t.Error("the zero list is not empty")
	}
}

// TestRemoveWhileWalking: the next element is asked for before the current one goes.
func TestRemoveWhileWalking(t *testing.T) {
	p := newPair(10)
	for id := range p.e {
		p.l.PushBack(&p.e[id])
	}
	var walked []int
	for e := p.l.Front(); e != nil; {
		next := p.l.Next(e)
		walked = append(walked, e.id)
		if e.id%3 != 0 {
			p.l.Remove(e)
		}
		e = next
	}
	if !slices.Equal(walked, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}) {
		t.Errorf("walked %v", walked)
	}
	var left []int
	for e := p.l.Front(); e != nil; e = p.l.Next(e) {
		left = append(left, e.id)
	}
	if !slices.Equal(left, []int{0, 3, 6, 9}) {
		t.Errorf("left %v", left)
	}
}

// TestTwoLists: an element that has left one list may enter another.
func TestTwoLists(t *testing.T) {
	var a, b ilist.List[elem, *elem]
	x, y := &elem{id: 1}, &elem{id: 2}
	a.PushBack(x)
	a.PushBack(y)
	b.PushFront(a.PopFront())
	if a.Front() != y || a.Next(y) != nil || b.Front() != x || b.Next(x) != nil || !x.links.In() {
		t.Error("not moved")
	}
	if !b.Remove(x) || b.Remove(x) || !b.Empty() || a.Empty() {
		t.Error("not taken out once")
	}
}

func TestAllocs(t *testing.T) {
	var l ilist.List[elem, *elem]
	e := new(elem)
	if got := testing.AllocsPerRun(100, func() { l.PushBack(e); l.Remove(e); l.PushFront(e); l.PopFront() }); got != 0 {
		t.Errorf("%v allocations", got)
	}
}
