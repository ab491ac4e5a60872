package timer_test

import (
	"bytes"
	"fmt"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
	"bide.invalid/bide/timer/queue"
)

// A trace of what a program does with its timers, to be replayed on other queues.
func ExampleService_Record() {
	c := clock.NewVirtual()
	stop := timer.For(c).Record(1 << 16)
	timer.AfterFunc(time.Second, func() {}, timer.On(c)).Stop()
	timer.AfterFunc(2*time.Second, func() {}, timer.On(c))
	c.Advance(time.Minute)
	trace, lost := stop()

	fmt.Println(len(trace), "bytes,", lost, "operations lost")
	r, _ := queue.NewTraceReader(bytes.NewReader(trace))
	for op, err := r.Read(); err == nil; op, err = r.Read() {
		fmt.Println(op.Kind, op.ID, "at", op.Now)
	}
	// Output:
	// 41 bytes, 0 operations lost
	// scheduled 0 at 0s
	// canceled 0 at 0s
	// scheduled 0 at 0s
	// fired 0 at 2s
}
