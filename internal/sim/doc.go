// Package sim tries all orders in which a few goroutines can take their steps: the points that package step names. A
// model is a function that makes something, starts goroutines that use it, and says what must hold when they are
// through. Explore calls it again and again, each time with another schedule: first every one in which nobody is
// interrupted more than once, then more than twice, and so on, and in the end random ones.
//
//	sim.Explore(t, "future", func(w *sim.World) {
//		var f syncs.Future[int]
//		w.Go("set", func() { f.Set(1) })
//		w.Go("wait", func() { f.Wait(w.Context()) })
//		w.Check(func() error { … })
//	})
//
// It exists under the build tag bidestep only, and so do the tests that use it (x_sim_test.go). `make explore` runs them
// all.
//
// # How a schedule is kept to
//
// The model runs in a synctest bubble. A goroutine that comes to a step waits there until it is chosen. When all
// goroutines of the bubble are at a step, or blocked, or through, one of those at a step is chosen, and goes on to its
// next one. A goroutine that finds a lock taken waits likewise, and cannot be chosen before the lock is free. So there
// is one interleaving for each sequence of choices, as long as a goroutine that was woken and the one that has woken it
// do nothing that matters between two steps. A schedule is that sequence, as numbers: 0 is the goroutine that has taken
// the last step, if it can go on.
//
// Time stands still. A deadline comes when a goroutine of the model moves a virtual clock.
//
// # What is found
//
// A schedule fails if Check returns an error; if a goroutine panics, which a broken invariant does; or if somebody
// waits for ever. It is then made shorter, choice by choice, as long as it still fails, and printed. BIDE_SCHEDULE
// replays it:
//
//	BIDE_SCHEDULE=0,0,1,0,2 go test -tags bidestep,bideinvariant -run TestSimFuture ./syncs
package sim
