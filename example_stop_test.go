package bide_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/syncs"
	"bide.invalid/bide/timer"
)

// A stop in two phases. The job that runs comes to its end, no other is taken, and nothing is canceled. What still hangs
// when the grace is over is.
func ExampleScope_Stop() {
	virtually(func(_ context.Context, vc *clock.Virtual) {
		err := bide.Run(context.Background(), func(s *bide.Scope) error {
			draining := bide.Draining(s)
			for job := 1; ; job++ {
				select {
				case <-draining:
					var goodbye syncs.Event // nobody answers
					err := goodbye.Wait(s)
					fmt.Println("goodbye:", err, "at", vc.Now())
					return err
				default:
				}
				if job == 2 {
					s.Stop(10*time.Second, errors.New("new version")) // from any goroutine
				}
				if err := bide.Sleep(s, 4*time.Second); err != nil {
					return err
				}
				fmt.Println("job", job, "done at", vc.Now())
			}
		}, bide.Clock(vc), bide.Name("app"))
		fmt.Println(err) // the scope has absorbed its own stop
	})
	// Output:
	// job 1 done at 4s
	// job 2 done at 8s
	// goodbye: bide: canceled by shutdown of scope "app": new version at 14s
	// <nil>
}

// Draining is closed softly: work that was begun goes on, new work is not taken.
func ExampleDraining() {
	vc := clock.NewVirtual()
	bide.Run(context.Background(), func(s *bide.Scope) error {
		jobs := make(chan int, 3)
		jobs <- 1
		jobs <- 2
		draining := bide.Draining(s) // asked for once
		for {
			select {
			case <-draining:
				fmt.Println("draining;", len(jobs), "left to others; error:", s.Err())
				return nil
			default:
			}
			fmt.Println("job", <-jobs)
			s.Stop(10*time.Second, nil) // the signal comes now
		}
	}, bide.Clock(vc))
	// Output:
	// job 1
	// draining; 1 left to others; error: <nil>
}

// The report names who was left at the hard end, and what they waited for.
func ExampleScope_StopReport() {
	virtually(func(_ context.Context, vc *clock.Virtual) {
		var s *bide.Scope
		err := bide.Run(context.Background(), func(in *bide.Scope) error {
			s = in
			s.Stop(10*time.Second, errors.New("new version"))
			return bide.FailAfter(s, time.Hour, func(ctx context.Context) error {
				var reply syncs.Future[string]
				_, err := reply.Wait(ctx)
				return err
			}, bide.Name("GET /report"))
		}, bide.Clock(vc), bide.Name("app"))
		fmt.Println(err)
		s.StopReport().WriteTo(os.Stdout)
	})
	// Output:
	// <nil>
	// hard end of scope "app" after a grace of 10s: new version
	//	app/GET /report: open 10s, waiting for future
}

// With stacks the report also finds those that wait for something that obeys no scope.
func ExampleStacks() {
	virtually(func(ctx context.Context, vc *clock.Virtual) {
		var s *bide.Scope
		block := make(chan struct{})
		bide.Run(ctx, func(in *bide.Scope) error {
			s = in
			s.Stop(10*time.Second, nil)
			timer.AfterFunc(11*time.Second, func() { close(block) }, timer.On(vc))
			<-block
			return nil
		}, bide.Stacks())
		for _, g := range s.StopReport().Stacks {
			if strings.HasPrefix(g.Frames[0], "bide_test.ExampleStacks.") {
				state, _, _ := strings.Cut(g.State, " (")
				fmt.Println(g.Count, "in ExampleStacks:", state)
			}
		}
	})
	// Output: 1 in ExampleStacks: chan receive
}

// A stop button: the work knows nothing of it. A child waits for it beside the work, and cancels the nursery, which
// drops what that causes. (It is a service: it ends when the work has.)
func Example_stopButton() {
	button := make(chan string, 1)
	copied := 0
	err := bide.WithNursery(context.Background(), func(ctx context.Context, n *bide.Nursery) error {
		n.Service(func(ctx context.Context) error {
			select {
			case who := <-button:
				n.Cancel(errors.New(who + " has pressed stop"))
			case <-ctx.Done():
			}
			return nil
		})
		for ; copied < 3; copied++ {
			if err := bide.Sleep(ctx, time.Microsecond); err != nil {
				return err
			}
		}
		button <- "the user"
		err := bide.Sleep(ctx, time.Hour) // a large file
		fmt.Println(err)
		return err
	})
	fmt.Println(copied, "files, error:", err)
	// Output:
	// bide: canceled by cancel: the user has pressed stop
	// 3 files, error: <nil>
}

// A goodbye in a canceled scope does not hang: its first wait fails. In a shield it is sent, and if the peer does not
// answer it hangs no longer than the shield's bound. (In Go any forgotten bound is a goodbye that hangs for ever.)
func Example_goodbye() {
	virtually(func(_ context.Context, vc *clock.Virtual) {
		goodbye := func(ctx context.Context) error {
			var answer syncs.Event // which never comes
			err := answer.Wait(ctx)
			fmt.Println("goodbye at", vc.Now(), "-", err)
			return err
		}
		err := bide.Run(context.Background(), func(s *bide.Scope) error {
			s.Cancel(nil)
			err := goodbye(s)
			return errors.Join(err, bide.Shield(s, 2*time.Second, goodbye, bide.Name("goodbye")))
		}, bide.Clock(vc))
		fmt.Println(err)
	})
	// Output:
	// goodbye at 0s - bide: canceled by cancel
	// goodbye at 2s - bide: canceled by deadline of scope "goodbye"
	// bide: goodbye: timeout after 2s: waiting for event
}

// Nothing outlives the hard end, a shield neither: it is cut as if its own bound had passed.
func Example_goodbyeAtTheHardEnd() {
	virtually(func(_ context.Context, vc *clock.Virtual) {
		err := bide.Run(context.Background(), func(s *bide.Scope) error {
			s.Stop(5*time.Second, errors.New("new version"))
			return bide.Shield(s, time.Minute, func(ctx context.Context) error {
				var flushed syncs.Event // never
				err := flushed.Wait(ctx)
				fmt.Println(err)
				return err
			}, bide.Name("flush"))
		}, bide.Clock(vc), bide.Name("app"))
		fmt.Println(err)
	})
	// Output:
	// bide: canceled by shutdown of scope "app": new version
	// bide: flush: cut after 5s: waiting for event (shutdown of scope "app": new version)
}
