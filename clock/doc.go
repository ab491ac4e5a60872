// Package clock has instants, and the clocks that they are read from.
//
// An [Instant] is a reading of one clock: an int64, saturating, with a [Forever]. Durations belong at the edges of a
// program and instants inside: a retry loop, or five nested calls, that carry an instant never compute "the rest",
// and read the clock once. An Instant means nothing on another clock, and nothing to another process; a [time.Time]
// crosses such borders, and is converted once, at entry ([FromTime]).
//
// [Monotonic] is the clock of everything that names none. [NewVirtual] makes a clock that stands still until it is
// told to move: tests of an hour take a microsecond, and the same test takes the same path every time.
//
// # In a testing/synctest bubble
//
// Time in a bubble starts in the year 2000, before this process, so instants of the monotonic clock that were read
// there are negative, and nowhere else are they: [InBubble] is one clock read and a comparison. The layers above
// use it to keep bubbled waiters away from timers and channels that are shared with the world outside. A bubble whose
// fake time passes this process's start (some 26 years of sleeping) can be told apart only after ten years more.
package clock
