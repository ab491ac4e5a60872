//go:build race || bideinvariant

package invariant

// On is true where checks are compiled in.
const On = true

// True panics with what unless ok.
func True(ok bool, what string) {
	if !ok {
		panic("bide: broken invariant: " + what)
	}
}
