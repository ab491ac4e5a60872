package syncs

import (
	"math/rand/v2"
	"slices"
	"testing"

	"bide.invalid/bide/internal/invariant"
)

// check fails unless the treap is one; numbers are its own, in order.
func (l *levels) check(t *testing.T) (numbers []uint64) {
	t.Helper()
	var walk func(x *level, above uint64)
	walk = func(x *level, above uint64) {
		if x == nil {
			return
		}
		if x.rank > above || x.rank != rank(x.n) {
			t.Fatalf("I1: %d has the rank %d, below %d", x.n, x.rank, above)
		}
		walk(x.left, x.rank)
		numbers = append(numbers, x.n)
		walk(x.right, x.rank)
	}
	walk(l.root, 1<<64-1)
	if !slices.IsSorted(numbers) || len(slices.Compact(slices.Clone(numbers))) != len(numbers) {
		t.Fatalf("I1: the numbers are %v", numbers)
	}
	return numbers
}

// A levelsModel is a table and what should be in it.
type levelsModel struct {
	l    levels
	want []uint64 // in order
}

func (m *levelsModel) make(n uint64) {
	x := m.l.make(n)
	if i, found := slices.BinarySearch(m.want, n); !found {
		m.want = slices.Insert(m.want, i, n)
	} else if m.l.find(n) != x {
		panic("another level for the same number")
	}
}

func (m *levelsModel) drop(n uint64) {
	if x := m.l.find(n); x != nil {
		m.l.drop(x)
	}
	if i, found := slices.BinarySearch(m.want, n); found {
		m.want = slices.Delete(m.want, i, i+1)
	}
}

func (m *levelsModel) check(t *testing.T, ops any) {
	t.Helper()
	if got := m.l.check(t); !slices.Equal(got, m.want) {
		t.Fatalf("after %v: %v, want %v", ops, got, m.want)
	}
	least := uint64(0)
	if len(m.want) > 0 {
		least = m.want[0]
	}
	if got := m.l.least(); got != least {
		t.Fatalf("after %v: least is %d, want %d", ops, got, least)
	}
	if x := m.l.first(); (x != nil) != (len(m.want) > 0) || x != nil && x.n != least {
		t.Fatalf("after %v: first is %v", ops, x)
	}
}

// All sequences of six operations on four numbers; of five where there is less time.
func TestLevelsExhaustive(t *testing.T) {
	const numbers = 4
	length := 6
	if testing.Short() || invariant.On {
		length = 5
	}
	ops := make([]int, length) // 0 to 3: make 1 to 4; 4 to 7: drop
	for {
		var m levelsModel
		for _, op := range ops {
			if n := uint64(op%numbers + 1); op < numbers {
				m.make(n)
			} else {
				m.drop(n)
			}
		}
		m.check(t, ops)
		i := 0
		for ; i < length; i++ {
			if ops[i]++; ops[i] < 2*numbers {
				break
			}
			ops[i] = 0
		}
		if i == length {
			return
		}
	}
}

func TestLevelsRandom(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for _, span := range []uint64{8, 100, 1 << 62} {
		var m levelsModel
		for i := range 5000 {
			n := 1 + r.Uint64N(span)
			if len(m.want) > 0 && r.IntN(2) == 0 {
				n = m.want[r.IntN(len(m.want))]
			}
			switch r.IntN(5) {
			case 0, 1:
				m.make(n)
			case 2:
				m.drop(n)
			case 3:
				if _, found := slices.BinarySearch(m.want, n); (m.l.find(n) != nil) != found {
					t.Fatalf("find of %d: want %v", n, found)
				}
			default:
				m.drop(m.l.least())
			}
			if i%16 == 0 {
				m.check(t, i)
			}
		}
		m.check(t, "all")
	}
}

// Ten thousand in a row, as tickets are: the depth is some logarithms.
func TestLevelsDepth(t *testing.T) {
	var l levels
	for n := range uint64(10_000) {
		l.make(n + 1)
	}
	var depth func(x *level) int
	depth = func(x *level) int {
		if x == nil {
			return 0
		}
		return 1 + max(depth(x.left), depth(x.right))
	}
	if d := depth(l.root); d > 50 {
		t.Errorf("10000 numbers are %d deep", d)
	}
}
