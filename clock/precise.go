package clock

// NewPreciseAlarm returns an alarm of the monotonic clock that comes some tens of microseconds late: what it takes to
// run a goroutine in a program that is idle. On Linux a timerfd wakes a thread for it, a little early; elsewhere, while
// none can be had (too many open files, a sandbox that forbids it) and in a synctest bubble it is the alarm that
// [Monotonic] has.
//
// It costs a file descriptor, from the first Set until the alarm is collected as garbage; a Set or a Clear costs a
// system call, and each time that it comes a goroutine waits for the last microseconds in a loop: often none, no more
// than half of the wait, never more than 64. An alarm that is set stays, whether anybody refers to it or not.
func NewPreciseAlarm(f func(now Instant)) Alarm { return newPreciseAlarm(f) }
