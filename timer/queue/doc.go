// Package queue has the data structures that can hold timers.
//
// [Wheel] and [Heap4] are the ones that the timer service uses: the wheel for timeouts, which are many, coarse, and mostly
// canceled; the heap where a deadline is exact.
package queue
