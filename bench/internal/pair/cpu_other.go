//go:build !unix && !windows

package pair

import (
	"errors"
	"time"
)

// CPUTime is not known here.
func CPUTime() (time.Duration, error) { return 0, errors.ErrUnsupported }
