package syncs_test

import "testing"

// e2b-dev/infra#3629. A wait on a sync.Cond was made cancelable by a context.AfterFunc that called Broadcast, without
// the lock. A cancellation between the waiter's look at its context and its place in the queue woke nobody, and the
// handler was stuck long past its fifteen seconds.
//
// Here cancellation comes at any point of a call that nothing else ends, most of all at its beginning; if one is lost,
// this hangs.
func TestReportInfra3629(t *testing.T) {
	for _, c := range calls {
		for _, x := range contexts {
			t.Run(c.name+"/"+x.name, func(t *testing.T) {
				c := c.make()
				for i := range some(500) {
					ctx, cancel := x.make(t)
					canceled := make(chan struct{})
					go func() {
						for range i % 7 {
							yield()
						}
						cancel()
						close(canceled)
					}()
					for range i % 5 {
						yield()
					}
					if err := c.wait(ctx); !x.want(err) {
						t.Fatalf("error %v", err)
					}
					if <-canceled; !c.clean() {
						t.Fatal("somebody is left in a queue")
					}
				}
			})
		}
	}
}
