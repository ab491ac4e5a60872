package wire

import (
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// bootID is empty if it cannot be read.
var bootID = sync.OnceValue(func() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
})

// boottime reads the clock that counts from the start of the machine. id is empty if there is none.
func boottime() (id string, since time.Duration) {
	id = bootID()
	var t unix.Timespec
	if id == "" || strings.ContainsAny(id, ";=") || unix.ClockGettime(unix.CLOCK_BOOTTIME, &t) != nil {
		return "", 0
	}
	return id, time.Duration(t.Nano())
}
