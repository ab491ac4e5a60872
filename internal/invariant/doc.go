// Package invariant has checks of what the comments claim. They are compiled in under the race detector and under
// the build tag bideinvariant, and are nothing otherwise; what a check computes goes behind "if invariant.On".
package invariant
