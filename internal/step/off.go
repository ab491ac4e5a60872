//go:build !bidestep

package step

// On is true where steps are compiled in.
const On = false

// At is nothing here.
func At(string) {}
