package wire

import (
	"context"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
)

// EnvDeadline is the name of the environment variable with the deadline that a process has inherited.
const EnvDeadline = "BIDE_DEADLINE"

// Environ is the environment for a child: that of this process, with the variable set to ctx's effective deadline or
// the inherited one, whichever is earlier; without the variable if there is neither. In a shield it is the shield's
// deadline; that of a canceled ctx has passed.
func Environ(ctx context.Context) []string {
	env := os.Environ()
	kept := env[:0]
	for _, e := range env {
		if name, _, _ := strings.Cut(e, "="); name != EnvDeadline {
			kept = append(kept, e)
		}
	}
	at := now() // before what is left is asked: the child's deadline is not the later one
	left := bide.Remaining(ctx)
	own := left != time.Duration(clock.Forever)
	value, inherited, has := fromEnviron()
	switch {
	case has && (!own || inherited <= left):
		return append(kept, EnvDeadline+"="+value) // as it is, so that it does not drift on its way
	case own:
		return append(kept, EnvDeadline+"="+format(left, at))
	}
	return kept
}

// FromEnviron is the time until the deadline that this process has inherited; zero or less if it has passed. ok is
// false if it has inherited none, or one that is not understood, which is logged, once, as a warning of log/slog.
func FromEnviron() (left time.Duration, ok bool) {
	_, left, ok = fromEnviron()
	return left, ok
}

func fromEnviron() (value string, left time.Duration, ok bool) {
	value, ok = os.LookupEnv(EnvDeadline)
	if !ok {
		return "", 0, false
	}
	left, err := Parse(value)
	if err != nil {
		warn.Do(func() { slog.Warn("wire: " + EnvDeadline + " is ignored: " + err.Error()) })
		return "", 0, false
	}
	return value, left, true
}

var warn sync.Once

// Parse is the time until the deadline that a value of the variable says; zero or less if it has passed. The error says
// what is not understood.
func Parse(value string) (left time.Duration, err error) { return parse(value, now()) }
