package queue_test

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer/queue"
)

// A recorder that stops when its memory is full, and what it has recorded.
func ExampleAppendOp() {
	trace, ok := queue.AppendHeader(make([]byte, 0, 4096))
	before := clock.Instant(0)
	record := func(op queue.Op) {
		if ok {
			trace, ok = queue.AppendOp(trace, before, op)
			before = op.Now
		}
	}
	const ms = clock.Instant(time.Millisecond)
	record(queue.Op{Kind: queue.Scheduled, ID: 0, Now: 1 * ms, At: 5001 * ms})
	record(queue.Op{Kind: queue.Scheduled, ID: 1, Now: 3 * ms, At: 53 * ms})
	record(queue.Op{Kind: queue.Canceled, ID: 0, Now: 20 * ms})
	record(queue.Op{Kind: queue.Fired, ID: 1, Now: 54 * ms})
	fmt.Println(len(trace), "bytes, all of it:", ok)

	r, err := queue.NewTraceReader(bytes.NewReader(trace))
	if err != nil {
		log.Fatal(err)
	}
	for {
		op, err := r.Read()
		if err == io.EOF {
			return
		}
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(op.Now, op.Kind, op.ID)
	}
	// Output:
	// 46 bytes, all of it: true
	// 1ms scheduled 0
	// 3ms scheduled 1
	// 20ms canceled 0
	// 54ms fired 1
}
