//go:build !linux

package clock

import "runtime"

func newBoottime() (Clock, error) { return nil, unsupported("Boottime", runtime.GOOS) }

func newRealtime() (Clock, error) { return nil, unsupported("Realtime", runtime.GOOS) }

func newPreciseAlarm(f func(Instant)) Alarm { return Monotonic().NewAlarm(f) }
