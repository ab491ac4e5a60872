// Package timer calls functions later and periodically ([AfterFunc], [Every]), and lets an object that has a timeout
// embed it ([Entry], [Service]) without an allocation. No goroutine and no channel waits for a timer.
//
//	t := timer.AfterFunc(50*time.Millisecond, warn)
//	defer t.Stop()
//
// # What it promises
//
//   - Never early. Deadlines are rounded up to the service's tick (1.05 ms), and the runtime's timer may be late
//     besides. [Service.Stats] has a histogram of how late timers were.
//   - Constant time and no allocation to schedule, move or cancel an entry of the default service, whatever is
//     pending; AfterFunc and Every allocate once.
//   - Order: by tick, and within a tick by the order of scheduling. That holds within each shard (a service has a few),
//     and within what a driver takes at once (64 that are due, or 4096 looks). What runs on goroutines of its own is
//     ordered by the Go scheduler.
//   - An idle program has no goroutine of this package. Pending timers share one runtime timer a shard; precise ones
//     share one, too, and a timerfd.
//   - In a testing/synctest bubble every entry has a timer of that bubble: fake time, nothing shared. Do not use a
//     timer, or a scope with a deadline, that was made outside: its deadline may come late.
//   - A function that panics ends the process, as in any goroutine. One that calls runtime.Goexit ends nothing else.
//     (Inline on a virtual clock the goroutine is that of the Advance or Jump: the panic comes out of it, and Goexit
//     ends it. Other timers come nevertheless.)
//
// # Which of the two
//
// [AfterFunc] and [Every] are for code that wants a function called. An [Owner] embeds an Entry where a timeout belongs
// to an object that exists anyway (a waiter, a connection, a scope): it allocates nothing, and if it is reusable it may
// leave the entry linked while it is idle ([Service.Cover]), so that scheduling it again is one load.
//
// # Two classes, and other clocks
//
// A timeout bounds something that is expected to end before it: it is set often, nearly always canceled, and a
// millisecond more does not matter. The default service is for those. A timer that is expected to come, and for which a
// millisecond is much, gets [Tolerance] 0: it is on the service [Precise]. One of many timers that may come late says
// how late: a larger Tolerance lets it share a wake-up with others.
//
// [On] puts a timer on another clock: one that counts a suspended machine's time ([clock.Boottime]), the wall clock,
// steps included ([clock.Realtime]), or a virtual one. Those services are exact.
//
// # Duties of an owner
//
// For one entry, call Schedule, Cover and Cancel one at a time. Due is called under a lock of the service: it looks at
// atomics, and returns. When the deadline moves later no call is needed; when it moves earlier, call Schedule or Cover.
// Before an owner is dropped, call Cancel: an entry that is linked keeps its owner reachable until its deadline.
//
// # Testing
//
// Put the code on a virtual clock ([On], or bide's option Clock) or in a synctest bubble. Do not sleep.
package timer
