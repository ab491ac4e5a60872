package syncs

import (
	"context"
	"testing"
)

// A table that was large gives its memory back when it is empty, and not before; one that was not keeps it.
func TestTable(t *testing.T) {
	var x table[int, int]
	for _, n := range []int{1, roomy, roomy + 1, 1} {
		for i := range n {
			x.set(i, i)
			x.set(i, i+1)
		}
		if len(x.m) != n || x.m[n-1] != n {
			t.Fatalf("%d keys of %d", len(x.m), n)
		}
		for i := range n {
			if x.m == nil {
				t.Fatalf("dropped with %d of %d keys", n-i, n)
			}
			x.drop(i)
			x.drop(i)
		}
		if (x.m == nil) != (n > roomy) {
			t.Errorf("%d keys: dropped %v", n, x.m == nil)
		}
	}
}

// Neither a KeyedMutex nor a Flight keeps what a burst of keys has needed.
func TestBurstOfKeys(t *testing.T) {
	var m KeyedMutex[int]
	var g Flight[int, int]
	for round := range 2 {
		for k := range roomy + 1 {
			m.TryLock(k)
		}
		for k := range roomy + 1 {
			m.Unlock(k)
		}
		var fly func(k int) (int, error) // each while the one before it flies
		fly = func(k int) (int, error) {
			return g.Do(context.Background(), k, func(context.Context) (int, error) {
				if k == 0 {
					return 0, nil
				}
				return fly(k - 1)
			})
		}
		if v, err := fly(roomy); v != 0 || err != nil {
			t.Errorf("Do = %d, %v", v, err)
		}
		if m.keys.m != nil || g.calls.m != nil {
			t.Errorf("round %d: %d keys, %d calls are left of a burst", round, len(m.keys.m), len(g.calls.m))
		}
	}
}
