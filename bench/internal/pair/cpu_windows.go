package pair

import (
	"syscall"
	"time"
)

// CPUTime is how much of the processors this process has used, in steps of some 16 ms.
func CPUTime() (time.Duration, error) {
	self, err := syscall.GetCurrentProcess()
	if err != nil {
		return 0, err
	}
	var created, exited, kernel, user syscall.Filetime
	if err := syscall.GetProcessTimes(self, &created, &exited, &kernel, &user); err != nil {
		return 0, err
	}
	// These two are durations, in units of 100 ns; Filetime.Nanoseconds would take them for dates.
	units := func(f syscall.Filetime) time.Duration {
		return time.Duration(int64(f.HighDateTime)<<32|int64(f.LowDateTime)) * 100
	}
	return units(kernel) + units(user), nil
}
