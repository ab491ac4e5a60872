//go:build !race

package bide_test

const raceEnabled = false
