package park_test

import (
	"context"
	"fmt"

	"bide.invalid/bide"
	"bide.invalid/bide/park"
)

// A Device does one job at a time. It cannot be given up by who waits for it, but it can be told to stop: by the hook of
// its waiter, which is filed in the scope of the job.
type Device struct {
	w    *park.Waiter
	stop chan struct{}
}

func newDevice() *Device {
	d := &Device{stop: make(chan struct{}, 1)}
	d.w = park.New(func(park.Outcome) { d.stop <- struct{}{} })
	return d
}

// Do runs job under a scope. It reports false if the device is busy.
func (d *Device) Do(s *bide.Scope, job func(stop <-chan struct{})) (ok bool, err error) {
	t, ok := d.w.Claim()
	if !ok {
		return false, nil
	}
	h, _ := park.HostOf(s)
	if _, filed := h.Attach(d.w, park.KindUser); !filed {
		d.w.Withdraw(t) // the owner no more
		return true, park.Reason(s)
	}
	job(d.stop)
	told := !d.w.Resolve(t, park.User) && d.w.Withdraw(t) == park.Canceled
	h.Detach(d.w) // still the owner
	d.w.Free()
	if told {
		return true, park.Reason(s)
	}
	return true, nil
}

// One waiter for all the jobs of a device is the lock of the device as well.
func ExampleWaiter_Claim() {
	d := newDevice()
	bide.Run(context.Background(), func(s *bide.Scope) error {
		ok, err := d.Do(s, func(<-chan struct{}) {
			twice, _ := d.Do(s, nil)
			fmt.Println("a second job at the same time:", twice)
		})
		fmt.Println(ok, err)
		ok, err = d.Do(s, func(stop <-chan struct{}) {
			s.Cancel(nil)
			<-stop
		})
		fmt.Println(ok, err)
		return err
	})
	// Output:
	// a second job at the same time: false
	// true <nil>
	// true bide: canceled by cancel
}
