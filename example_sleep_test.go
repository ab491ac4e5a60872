package bide_test

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
)

// autojump moves the clock on to the next thing that waits for it, until done is closed.
func autojump(vc *clock.Virtual, done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		default:
			vc.Jump()
			runtime.Gosched()
		}
	}
}

// Sleep is on the clock of its scope: hours take no time on a virtual one. It ends early only with its context.
func ExampleSleep() {
	vc := clock.NewVirtual()
	done := make(chan struct{})
	defer close(done)
	go autojump(vc, done)

	err := bide.Run(context.Background(), func(s *bide.Scope) error {
		for range 3 {
			if err := bide.Sleep(s, time.Hour); err != nil {
				return err
			}
		}
		fmt.Println("slept until", vc.Now())
		s.Cancel(nil)
		err := bide.Sleep(s, time.Hour)
		fmt.Println(err)
		return err
	}, bide.Clock(vc))
	fmt.Println(err, vc.Now())
	// Output:
	// slept until 3h0m0s
	// bide: canceled by cancel
	// <nil> 3h0m0s
}
