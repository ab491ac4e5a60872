//go:build !race && !bideinvariant

package invariant

// On is true where checks are compiled in.
const On = false

// True compiles to nothing here.
func True(bool, string) {}
