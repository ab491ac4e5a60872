package main

import (
	"fmt"
	"time"

	"bide.invalid/bide"
)

// count keeps a line with the time that is left to the scope on the terminal, until stop is called or the scope ends.
// It does nothing if that is not asked for, if there is no limit, or no terminal.
func (r *runner) count(s *bide.Scope) (stop func()) {
	if !r.left || r.told.limit == nil || !stderrIsTerminal() {
		return func() {}
	}
	counting := bide.Open(s)
	over := make(chan struct{})
	draw := func(text string) {
		fromBackground(func() { fmt.Fprint(r.stderr, "\r\x1b[K", text) }) // the command may have the terminal
	}
	go func() {
		defer close(over)
		defer draw("")
		draw(leftLine(counting.Remaining(), r.command[0]))
		for range bide.Ticks(counting, time.Second) {
			draw(leftLine(counting.Remaining(), r.command[0]))
		}
	}()
	return func() {
		counting.Cancel(nil)
		<-over
		counting.Close(nil)
	}
}

// leftLine is the line, in whole seconds that have begun.
func leftLine(left time.Duration, command string) string {
	left = min(left, forever-time.Second) // no sum is beyond what there is
	return fmt.Sprintf("bide run: %v left for %s", (left + time.Second - 1).Truncate(time.Second), command)
}
