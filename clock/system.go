package clock

import (
	"errors"
	"fmt"
)

// Boottime returns the clock that goes on while the machine is suspended, as [Monotonic] does not: it never steps, and
// its zero is the start of the process. It is for deadlines that are owed to the world outside, as a lease's or a
// session's: a laptop that was closed for an hour has used that hour up. An alarm that came due meanwhile comes when
// the machine resumes; it does not wake the machine.
//
// Linux has it. Elsewhere, and where the kernel or a sandbox refuses its timers, the error matches
// [errors.ErrUnsupported]. A reading is a system call, several times as dear as [Now].
func Boottime() (Clock, error) { return newBoottime() }

// Realtime returns the wall clock, which whoever sets the machine's time steps, forward or back. It is for deadlines
// that are times of day: the closing of an auction, the expiry of a certificate. A step forward past an alarm's
// instant makes it come at once, one backward makes it wait for longer; an alarm that has come does not come again.
//
// Its zero is midnight UTC of January 1, 2020. The rule that instants are negative in a synctest bubble only, where
// time starts in 2000, holds if the machine's clock shows a later time than that. A [time.Time] converts exactly, by
// its wall reading, until the year 2312.
//
// Linux has it. Elsewhere, and where the kernel or a sandbox refuses its timers, the error matches
// [errors.ErrUnsupported]: a deadline that silently does not follow the clock would be worse.
func Realtime() (Clock, error) { return newRealtime() }

// unsupported is what a constructor returns. where may say why.
func unsupported(name, where string) error {
	return fmt.Errorf("bide/clock: no %s on %s: %w", name, where, errors.ErrUnsupported)
}
