package rows

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/bench/internal/pair"
	"bide.invalid/bide/syncs"
)

// P15: a value that comes once, set and waited for; and the first of several events, the last of which is set.
var p15 = pair.Row{
	Name: "P15", Title: "a future; the first of several",
	Run: runP15,
	Lines: []pair.Line{
		{Case: "Future", Ours: "Future", Rival: "make(chan)+close+receive", Of: pair.Ns, Target: pair.AtLeast(2)},
		{Case: "Future", Ours: "Future", Of: pair.Bytes, Target: pair.AtMost(0)},
		{Case: "WaitAny of 2", Ours: "WaitAny@2", Rival: "reflect.Select@2", Of: pair.Ns},
		{Case: "WaitAny of 8", Ours: "WaitAny@8", Rival: "reflect.Select@8", Of: pair.Ns, Target: pair.AtLeast(5)},
		{Case: "WaitAny of 64", Ours: "WaitAny@64", Rival: "reflect.Select@64", Of: pair.Ns},
		{Case: "WaitAny of 2", Ours: "WaitAny@2", Of: pair.Bytes, Target: pair.AtMost(0)},
		{Case: "WaitAny of 8", Ours: "WaitAny@8", Of: pair.Bytes, Target: pair.AtMost(0)},
		{Case: "WaitAny of 64", Ours: "WaitAny@64", Of: pair.Bytes, Target: pair.AtMost(0)},
	},
}

func runP15(r *pair.Run) error {
	ctx := bide.Open(context.Background(), bide.Timeout(time.Hour))
	defer ctx.Close(nil)
	for r.Next() {
		r.Op("make(chan)+close+receive", func(n int) {
			for range n {
				c := make(chan struct{})
				close(c)
				<-c
			}
		})
		var f syncs.Future[int]
		r.Op("Future", func(n int) {
			for range n {
				f = syncs.Future[int]{}
				f.Set(1)
				_, _ = f.Wait(ctx)
			}
		})
		for _, k := range []int{2, 8, 64} {
			sources := make([]syncs.Waitable, k)
			cases := make([]reflect.SelectCase, k)
			for i := range k {
				e, c := new(syncs.Event), make(chan struct{})
				if i == k-1 {
					e.Set()
					close(c)
				}
				sources[i], cases[i] = e, reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(c)}
			}
			r.Op(fmt.Sprintf("reflect.Select@%d", k), func(n int) {
				for range n {
					reflect.Select(cases)
				}
			})
			r.Op(fmt.Sprintf("WaitAny@%d", k), func(n int) {
				for range n {
					_, _ = syncs.WaitAny(ctx, sources...)
				}
			})
		}
	}
	return nil
}
