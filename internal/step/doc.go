// Package step names the points between the atomic and locked steps of park, timer and scope: step.At("park.arm")
// stands before each. Normally At is nothing. Under the build tag bidestep every At asks a seeded scheduler whether
// this goroutine goes on at once, yields to the others, or rests for a while, so that ordinary tests and stress
// runs meet interleavings that an idle machine never shows.
//
// The seed is printed when the first step is taken; BIDE_STEP_SEED replays its decisions (decision i at the i-th
// step; the Go scheduler still chooses who takes a step next, so a replay is likely, not certain).
//
// Package sim puts another scheduler in its place, which tries all orders in which a few goroutines can take their
// steps. For that the locks of these packages are step's, too.
package step
