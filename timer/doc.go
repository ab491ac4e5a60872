// Package timer calls functions later and periodically ([AfterFunc], [Every]), and lets an object that has a timeout
// embed it ([Entry], [Service]) without an allocation. No goroutine and no channel waits for it.
//
//	t := timer.AfterFunc(50*time.Millisecond, warn)
//	defer t.Stop()
//
// # What it promises
//
//   - Never early. Deadlines are rounded up to the service's tick; lateness is one tick and what the runtime's timer
//     is late, and [Service.Stats] has a histogram of it.
//   - Constant time and no allocation to schedule, move or cancel an entry of the default service, whatever is
//     pending; AfterFunc and Every allocate once.
//   - Order: by tick, and within a tick by the order of scheduling, in each shard and while a driver can take them
//     in one batch (64 that are due, or 4096 looks). What runs on goroutines of its own is ordered by the Go scheduler.
//   - An idle program has no goroutine of this package. Pending timers share one runtime timer a shard; precise ones
//     share one timerfd, and a goroutine that waits for it while any is pending.
//   - In a testing/synctest bubble every entry has a timer of that bubble: fake time, nothing shared. What belongs to
//     the world outside, a timer or a scope with a deadline, should not be used inside: its deadline may come late.
//   - A function that panics ends the process, as any goroutine's does. One that calls runtime.Goexit takes nobody
//     along.
//
// # Which of the two
//
// [AfterFunc] and [Every] are for code that wants a function called. An [Owner] embeds an Entry where a timeout belongs
// to an object that exists anyway (a waiter, a connection, a scope): it allocates nothing, and if it is reusable it may
// leave the entry linked while it is idle ([Service.Cover]), so that scheduling it again is one load.
//
// # Two classes, and other clocks
//
// A timeout bounds something that is expected to end before: it is mostly canceled, often set, and a millisecond matters to
// nobody. The default service is for those. A timer that is expected to come, soon, and for which a millisecond is
// much, gets [Tolerance] 0: it is on [Precise]. And one that may come late, among many, says how late: a larger Tolerance
// lets it share a wake-up.
//
// [On] puts a timer on another clock: one that counts a suspended machine's time ([clock.Boottime]), the wall clock, steps
// included ([clock.Realtime]), or a virtual one. Those services are exact.
//
// # Duties of an owner
//
// Schedule, Cover and Cancel of one entry are called one at a time. Due is called under a lock of the service: it
// looks at atomics, and returns. A deadline that moves later needs no call; one that moves earlier needs Schedule, or
// Cover. An owner that is dropped is taken out with Cancel first, or its entry keeps it reachable until the look.
//
// # Testing
//
// Put the code on a virtual clock ([On], or bide's option Clock) or in a synctest bubble. Do not sleep.
package timer
