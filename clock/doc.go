// Package clock has instants, and the clocks that they are read from.
//
// An [Instant] is a reading of one clock: an int64, saturating, with a [Forever]. Durations belong at the edges of a
// program and instants inside: a retry loop, or five nested calls, that carry an instant never compute "the rest",
// and read the clock once. An Instant means nothing on another clock, and nothing to another process; a [time.Time]
// crosses such borders, and is converted once, at entry ([FromTime]).
//
// # Which clock
//
//	clock           while the machine is suspended    when its time is set    systems
//	Monotonic       stands still                      does not see it         all
//	Boottime        goes on                           does not see it         Linux
//	Realtime        goes on                           follows, back too       Linux
//	Virtual         moves when it is told to          does not see it         all
//
// [Monotonic] is the clock of everything that names none: a timeout is about this program's patience. [Boottime] is
// for what is owed to the world outside, [Realtime] for times of day. A [Virtual] clock is for tests: an hour takes a
// microsecond, and the same test takes the same path every time. (That Monotonic stands still is so on Linux and most
// other systems; it is Go's own monotonic clock.)
//
// Where there is no Boottime or Realtime the constructors say so, with an error that matches errors.ErrUnsupported.
// Nothing is put in their place: a program that can do with less says Monotonic itself.
//
// # Which alarm
//
// An [Alarm] calls a function at an instant. Monotonic's is a timer of the Go runtime: cheap to set, nothing waits for
// it, and on Linux it is up to a millisecond late, since the runtime's poller sleeps in whole milliseconds. The one
// that [NewPreciseAlarm] makes has a timerfd beside that timer, which wakes the poller in time: each Set is a system
// call. Those of Boottime and Realtime are timerfds, which the poller waits for as for any file: late by the time that
// it takes to wake a thread, and a goroutine waits while the alarm is set. All are late by what the Go scheduler is
// behind, besides.
//
// NewPreciseAlarm is precise on Linux. On other systems, in a sandbox that refuses timerfds and while there are too
// many open files it is as late as a runtime timer, and never fails. Alarms of Boottime and Realtime without a timerfd
// look at their clock every second.
//
// # In a testing/synctest bubble
//
// Time in a bubble starts in the year 2000, before this process, so instants of the monotonic clock that were read
// there are negative, and nowhere else are they: [InBubble] is one clock read and a comparison. The layers above
// use it to keep bubbled waiters away from timers and channels that are shared with the world outside. A bubble whose
// fake time passes this process's start (some 26 years of sleeping) can be told apart only after ten years more.
//
// Boottime and Realtime show the bubble's time, too; Realtime's instants are negative until 2020. What an alarm has set
// in a bubble is a runtime timer of that bubble, whichever clock it is of.
package clock
