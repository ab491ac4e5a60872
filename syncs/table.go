package syncs

// A table is a map for keys that come and go. A map does not shrink; a table that has grown large is dropped when it is
// empty. The zero table is empty.
type table[K comparable, V any] struct {
	m    map[K]V
	most int // keys at a time, in m
}

// roomy is how many keys a table may have had for its map to be kept.
const roomy = 1024

func (t *table[K, V]) set(k K, v V) {
	if t.m == nil {
		t.m = make(map[K]V)
	}
	t.m[k] = v
	t.most = max(t.most, len(t.m))
}

func (t *table[K, V]) drop(k K) {
	delete(t.m, k)
	if len(t.m) == 0 && t.most > roomy {
		*t = table[K, V]{}
	}
}
