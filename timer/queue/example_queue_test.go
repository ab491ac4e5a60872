package queue_test

import (
	"fmt"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer/queue"
)

// A loop of one's own: it sleeps until Next, and takes out what is due, a few at a time.
func ExampleQueue() {
	type request struct {
		queue.Item
		name string
	}
	q := queue.NewWheel(queue.Tick)
	add := func(name string, timeout time.Duration) *request {
		r := &request{name: name}
		r.Value = r
		if q.Schedule(&r.Item, clock.Instant(0).Add(timeout)) {
			fmt.Println(name, "is the next: a sleeper would have to be woken")
		}
		return r
	}
	add("a", 30*time.Millisecond)
	b := add("b", 20*time.Millisecond)
	add("c", 25*time.Millisecond)

	was, wasNext := q.Cancel(&b.Item)
	fmt.Println("b is answered:", was, wasNext)

	var buf [16]*queue.Item
	for now, ok := q.Next(); ok; now, ok = q.Next() {
		for _, x := range buf[:q.Expire(now, buf[:])] {
			late := now.Sub(x.Due())
			fmt.Println(x.Value.(*request).name, "timed out, late by less than a tick:", late >= 0 && late < queue.Tick)
		}
	}
	// Output:
	// a is the next: a sleeper would have to be woken
	// b is the next: a sleeper would have to be woken
	// b is answered: true true
	// c timed out, late by less than a tick: true
	// a timed out, late by less than a tick: true
}

// All queues do the same; those that have a tick do it later.
func ExampleAll() {
	for _, c := range queue.All()[:4] {
		q := c.New()
		items := make([]queue.Item, 3)
		for i := range items {
			items[i].Value = i
			q.Schedule(&items[i], clock.Instant(50-10*i)*1e6)
		}
		q.Reschedule(&items[1], 70*1e6)
		var buf [3]*queue.Item
		n := q.Expire(60*1e6, buf[:])
		fmt.Println(c.Name, buf[0].Value, buf[1].Value, n, q.Len(), c.Late(time.Second))
	}
	// Output:
	// wheel 2 0 2 1 1.048576ms
	// heap4 2 0 2 1 0s
	// wheel-simple 2 0 2 1 1.048576ms
	// wheel-hashed 2 0 2 1 1.048576ms
}
