// Package queue has the data structures that can hold timers, behind one interface, with one suite of tests, one
// benchmark, and a format for traces to compare them by.
//
// [Wheel] and [Heap4] are the ones that the timer service uses: the wheel for timeouts, which are many, coarse, and
// mostly canceled; the heap where a deadline is exact. The others are what such a service could have been made of:
// [All] is the table, a [Queue] is what each of them is.
//
//	name                schedule       cancel         first out      order        when
//	wheel               1              1              1, moves ≤ 11  to the tick  timeouts
//	heap4               log n          log n          log n          exact        timers that expire
//	wheel-simple        1              1              1, turns: n    to the tick  all deadlines are near
//	wheel-hashed        1              1              n/slots        to the tick  many, within few turns
//	wheel-noncascading  1              1              1              to 1/8       deadlines nobody waits for
//	wheel-slab          1              1              1, moves ≤ 11  to the tick  links are to be indices
//	heap4-lazy          log n          1, sweeps: n   log n, n       exact        as heap4, mostly canceled
//	heap4-scan          log n          n              log n          exact        nothing is canceled
//	heap2               log n          log n          log n          exact        the baseline
//	pairing             1              log n*, n      log n*, n      exact        nobody is hurt by a slow one
//	pairing-aux         1              log n*, n      log n*, n      exact        as pairing
//	skiplist            log n†         log n†         1†             exact        a range is asked for, too
//	redblack            log n          log n          log n          exact        a bound for each operation
//	lanes               log durations  log durations  log durations  exact        few durations
//	list-ordered        n, or 1        1              1              exact        few items, or one duration
//	list-unordered      1              1, n           n              exact        a handful
//
// 1 is constant; * over many operations, while a single one may take the time that follows; † on average, by luck
// alone; "or 1": a deadline later than all others. In what order of size the figures are, and which structure is for
// what, is in docs/design/0008-which-queue.md.
//
// # What all queues promise
//
//   - Never early, at any distance and after any uptime. Late by less than the queue's tick (wheel-noncascading: and an
//     eighth of the distance), if Expire is called at Next.
//   - Deadlines in order, and equal ones in the order in which they were scheduled; where there is a tick, ticks are in
//     order. The two that cascade keep it within a tick unless something in it was moved, or a buffer was too small.
//   - What has passed when it is scheduled enters no structure.
//   - Schedule says whether a sleeper has to wake earlier than it was told, Cancel whether it need not wake for that.
//   - No operation recurses, and none allocates but for arrays that grow (heaps, the slab), towers (skiplist) and
//     durations (lanes).
//
// # Duties of the caller
//
// Callers lock. An Item is embedded in what expires, or has it as its Value; it belongs to the queue that it was first
// scheduled in, and is not copied. Expire is told a time that does not go back.
//
// # Traces
//
// A trace is what a program did with its timers: [AppendOp] records, a [TraceReader] reads, and the command
// bench/cmd/replay plays it on every queue.
package queue
