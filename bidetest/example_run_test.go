package bidetest_test

import (
	"fmt"

	"bide.invalid/bide/bidetest"
)

// A printer is a test that prints what it fails with.
type printer struct{ ends []func() }

func (*printer) Helper()                           {}
func (*printer) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }
func (p *printer) Fatalf(format string, args ...any) {
	p.Errorf(format, args...)
	panic("the end of the test")
}
func (p *printer) Cleanup(f func()) { p.ends = append(p.ends, f) }

// run runs a test, as go test does.
func run(test func(t bidetest.TB)) {
	defer bidetest.Impatient(0)()
	p := &printer{}
	test(p)
	for i := len(p.ends) - 1; i >= 0; i-- {
		p.ends[i]()
	}
}
