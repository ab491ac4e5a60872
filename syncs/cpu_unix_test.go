//go:build unix

package syncs_test

import (
	"syscall"
	"time"
)

// cpuTime is what the process has used of the processors. Where others use them too, it says more than the time that has
// passed.
func cpuTime() time.Duration {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
