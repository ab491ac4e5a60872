//go:build !linux

package wire

import "time"

// boottime: the systems that have such a clock have no common name for the boot that it belongs to. Wall time it is.
func boottime() (id string, since time.Duration) { return "", 0 }
