package bidetest

import "testing"

// TB is what this package needs of a test: a *testing.T or *testing.B has it. Fatalf does not return.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Cleanup(f func())
}

var _ TB = testing.TB(nil)
