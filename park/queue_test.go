package park_test

import (
	"slices"
	"testing"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/park"
)

// line is a list with n waiters in it, each to be woken with an outcome of its own.
type line struct {
	park.List
	ws   []*park.Waiter
	toks []park.Token
}

func newLine(n int) *line {
	l := &line{}
	for i := range n {
		w := park.New(nil)
		l.ws = append(l.ws, w)
		l.toks = append(l.toks, w.Arm(clock.Forever))
		l.PushBack(&w.Nodes(1)[0], w, l.toks[i], park.User+park.Outcome(i))
	}
	return l
}

func (l *line) node(i int) *park.Node { return &l.ws[i].Nodes(1)[0] }

// order wakes everybody, one by one, and says who came when.
func (l *line) order(t *testing.T) (order []int) {
	t.Helper()
	for {
		w, o := l.Resolve()
		if w == nil {
			if o != park.Pending || !l.Empty() {
				t.Errorf("Resolve of nobody: %v, empty %v", o, l.Empty())
			}
			return order
		}
		w.Unpark()
		i := slices.Index(l.ws, w)
		if want := park.User + park.Outcome(i); o != want {
			t.Errorf("waiter %d resolved with %v, want %v", i, o, want)
		}
		if got := w.Withdraw(l.toks[i]); got != o {
			t.Errorf("waiter %d ended with %v, want %v", i, got, o)
		}
		order = append(order, i)
	}
}

func TestList(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(t *testing.T, l *line)
		want []int
	}{
		{"first in, first out", func(*testing.T, *line) {}, []int{0, 1, 2, 3, 4}},
		{"push front", func(_ *testing.T, l *line) {
			w := park.New(nil)
			l.ws, l.toks = append(l.ws, w), append(l.toks, w.Arm(clock.Forever))
			l.PushFront(l.node(5), w, l.toks[5], park.User+5)
		}, []int{5, 0, 1, 2, 3, 4}},
		{"remove the first", remove(0), []int{1, 2, 3, 4}},
		{"remove the last", remove(4), []int{0, 1, 2, 3}},
		{"remove in the middle", remove(2, 1), []int{0, 3, 4}},
		{"remove all", remove(0, 4, 1, 3, 2), nil},
		{"remove, and file again", func(t *testing.T, l *line) {
			remove(1)(t, l)
			l.PushBack(l.node(1), l.ws[1], l.toks[1], park.User+1)
			remove(3)(t, l)
			l.PushFront(l.node(3), l.ws[3], l.toks[3], park.User+3)
		}, []int{3, 0, 2, 4, 1}},
		{"skip who has left", func(_ *testing.T, l *line) {
			for _, i := range []int{0, 1, 3} {
				l.ws[i].Withdraw(l.toks[i])
			}
		}, []int{2, 4}},
		{"skip all", func(_ *testing.T, l *line) {
			for i, w := range l.ws {
				w.Withdraw(l.toks[i])
			}
		}, nil},
		{"skip who waits for something else now", func(_ *testing.T, l *line) {
			l.ws[0].Withdraw(l.toks[0])
			l.toks[0] = l.ws[0].Arm(clock.Forever) // the node in the list still has the old token
		}, []int{1, 2, 3, 4}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLine(5)
			c.do(t, l)
			if got := l.order(t); !slices.Equal(got, c.want) {
				t.Errorf("woken %v, want %v", got, c.want)
			}
			for i := range l.ws {
				if l.Remove(l.node(i)) {
					t.Errorf("waiter %d was still filed", i)
				}
			}
		})
	}
}

func remove(is ...int) func(*testing.T, *line) {
	return func(t *testing.T, l *line) {
		for _, i := range is {
			if !l.Remove(l.node(i)) {
				t.Errorf("waiter %d was not filed", i)
			}
			if l.Remove(l.node(i)) {
				t.Errorf("waiter %d was filed twice", i)
			}
		}
	}
}

func TestListEmpty(t *testing.T) {
	var l park.List
	if !l.Empty() {
		t.Error("the zero List is not empty")
	}
	if w, o := l.Resolve(); w != nil || o != park.Pending {
		t.Errorf("Resolve = %v, %v", w, o)
	}
	var w *park.Waiter = park.New(nil)
	if l.Remove(&w.Nodes(1)[0]) {
		t.Error("Remove of a node that was never filed")
	}
}

// Resolve takes out those before the one that it wakes, and nobody behind; a waiter that left is filed until then.
func TestListResolveTakesOut(t *testing.T) {
	l := newLine(3)
	l.ws[0].Withdraw(l.toks[0])
	l.ws[2].Withdraw(l.toks[2])
	if w, _ := l.Resolve(); w != l.ws[1] {
		t.Fatal("not the first who can be woken")
	}
	l.ws[1].Unpark()
	l.ws[1].Withdraw(l.toks[1])
	if l.Remove(l.node(0)) || l.Remove(l.node(1)) {
		t.Error("somebody up to the resolved one is still filed")
	}
	if l.Empty() || !l.Remove(l.node(2)) || !l.Empty() {
		t.Error("the one behind is not filed any more")
	}
}

// One waiter in two lists: whichever comes first wins, and the other finds it gone.
func TestListTwo(t *testing.T) {
	for first := range 2 {
		var l [2]park.List
		w := park.New(nil)
		nodes := w.Nodes(2)
		tok := w.Arm(clock.Forever)
		for i := range l {
			l[i].PushBack(&nodes[i], w, tok, park.User+park.Outcome(i))
		}
		got, o := l[first].Resolve()
		if got != w || o != park.User+park.Outcome(first) {
			t.Errorf("list %d: %v, %v", first, got, o)
		}
		w.Unpark()
		if got, _ := l[1-first].Resolve(); got != nil {
			t.Error("woken twice")
		}
		if o := w.Withdraw(tok); o != park.User+park.Outcome(first) {
			t.Errorf("ended with %v", o)
		}
		if l[0].Remove(&nodes[0]) || l[1].Remove(&nodes[1]) {
			t.Error("still filed")
		}
	}
}

func TestNodes(t *testing.T) {
	w := park.New(nil)
	if n := w.Nodes(0); len(n) != 0 {
		t.Errorf("Nodes(0) has %d", len(n))
	}
	one := &w.Nodes(1)[0]
	many := w.Nodes(10)
	if len(many) != 10 {
		t.Fatalf("Nodes(10) has %d", len(many))
	}
	for n := 2; n <= 10; n++ {
		if got := w.Nodes(n); len(got) != n || &got[0] != &many[0] {
			t.Errorf("Nodes(%d) is not the same %d again", n, n)
		}
	}
	if &w.Nodes(1)[0] != one {
		t.Error("Nodes(1) is another")
	}
	if one == &many[0] {
		t.Error("Nodes(1) is one of many")
	}
	if more := w.Nodes(11); len(more) != 11 {
		t.Errorf("Nodes(11) has %d", len(more))
	}
	if n := testing.AllocsPerRun(100, func() { w.Nodes(11); w.Nodes(1); w.Nodes(5) }); n != 0 {
		t.Errorf("Nodes allocates %v times once it has them", n)
	}
}
