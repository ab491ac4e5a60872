package clock

// NewPreciseAlarm returns an alarm of the monotonic clock that comes as near to its time as the system can.
func NewPreciseAlarm(f func(Instant)) Alarm { return Monotonic().NewAlarm(f) }
