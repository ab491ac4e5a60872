package park_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/park"
)

// A Job is a context of one's own that knows who waits under it. Cancel ends the waits without a channel or a goroutine
// for each.
type Job struct {
	mu      sync.Mutex
	done    chan struct{}
	err     error
	waiters park.Waiters
	waited  time.Duration // how long all waits were together
}

func NewJob() *Job { return &Job{done: make(chan struct{})} }

func (j *Job) Deadline() (t time.Time, ok bool) { return t, false }
func (j *Job) Done() <-chan struct{}            { return j.done }

func (j *Job) Err() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.err
}

// Value answers with the host, which is how waits find it.
func (j *Job) Value(key any) any {
	if key == (park.Key{}) {
		return (*jobHost)(j)
	}
	return nil
}

// Cancel ends all that waits under the job.
func (j *Job) Cancel() {
	j.mu.Lock()
	if j.err == nil {
		j.err = context.Canceled
		close(j.done)
	}
	j.mu.Unlock()
	buf := make([]*park.Waiter, 16)
	for n := len(buf); n == len(buf); {
		j.mu.Lock()
		n = j.waiters.Cancel(buf) // nobody is added any more
		j.mu.Unlock()
		for _, w := range buf[:n] {
			w.Unpark()
		}
	}
}

// Waiting lists what is waited for.
func (j *Job) Waiting() string {
	var kinds []string
	j.mu.Lock()
	defer j.mu.Unlock()
	j.waiters.Each(func(k park.Kind) { kinds = append(kinds, k.String()) })
	return strings.Join(kinds, ", ")
}

// jobHost is the Job as a Host.
type jobHost Job

func (h *jobHost) Context() context.Context { return (*Job)(h) }
func (h *jobHost) Check() error             { return (*Job)(h).Err() }

func (h *jobHost) Attach(w *park.Waiter, k park.Kind) (outer <-chan struct{}, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err != nil {
		return nil, false
	}
	h.waiters.Add(w, k)
	w.Stamp(virtual.Now())
	return nil, true // nothing above it can be canceled
}

func (h *jobHost) Detach(w *park.Waiter) {
	_, since := w.Stamped()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waiters.Remove(w)
	h.waited += virtual.Now().Sub(since)
}

var virtual = clock.NewVirtual()

// A context that keeps a list of who waits under it, as a bide.Scope does.
func ExampleHost() {
	j := NewJob()
	ctx := context.WithValue(j, userKey{}, 7) // between a job and a wait there may be values
	h, native := park.HostOf(ctx)
	fmt.Println("found:", h == park.Host((*jobHost)(j)), native)

	// Somebody who is busy with other things, and wants to be told of the end.
	w := park.New(func(o park.Outcome) { fmt.Println("told:", o) })
	t := w.Arm(clock.Forever)
	h.Attach(w, park.KindEvent)
	fmt.Println("waiting for:", j.Waiting())
	virtual.Advance(time.Second)
	j.Cancel()
	w.Withdraw(t)
	h.Detach(w)
	fmt.Println("waited:", j.waited)

	// Everything that is written on package park obeys it.
	j = NewJob()
	go j.Cancel()
	fmt.Println(NewLatch(1).Wait(j))

	// Output:
	// found: true true
	// waiting for: event
	// told: canceled
	// waited: 1s
	// context canceled
}

type userKey struct{}
