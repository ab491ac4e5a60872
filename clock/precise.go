package clock

// NewPreciseAlarm returns an alarm of the monotonic clock that comes as soon as the kernel can wake a thread. On Linux
// it is a timerfd; elsewhere, while none can be had (too many open files, a sandbox that forbids it) and in a synctest
// bubble it is the alarm that [Monotonic] has.
//
// It costs a file descriptor, from the first Set until the alarm is collected as garbage, and a goroutine while it is
// set; a Set or a Clear costs a system call. An alarm that is set stays, whether anybody refers to it or not.
func NewPreciseAlarm(f func(now Instant)) Alarm { return newPreciseAlarm(f) }
