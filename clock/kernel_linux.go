package clock

import (
	"errors"
	"fmt"
	"math"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// A kernelClock is a clock that the kernel has timers for.
type kernelClock struct {
	id        int // CLOCK_...
	flags     int // of timerfd_settime
	monotonic bool
	now       func() Instant
	zero      func() int64 // what the kernel's clock shows at instant 0. Not called in a bubble
}

// A timerfd is a timer of the kernel as a file, which the runtime's poller waits for: no thread is held.
//
// It is set to absolute times of its clock. For Realtime nothing else follows a step. For Monotonic a relative time
// would do without the kernel's reading at instant 0, but it counts from the moment at which the kernel sees it: a
// goroutine that is stopped between its reading of the clock and the call, with its thread or with the whole machine,
// would set the alarm later by that much, for good.
type timerfd struct {
	k    *kernelClock
	file *os.File
	fd   int
	last int64 // no later time of the kernel's clock can be set

	stopped bool    // read has a deadline that has passed
	buf     [8]byte // of the one goroutine that reads
}

// lastTime is the end of what a Timespec holds: where it has 32 bits of seconds, the year 2038 for Realtime.
const lastTime = min(math.MaxInt64/second, int64(math.MaxInt)) * second

const second = int64(time.Second)

func (k *kernelClock) open() (kernelTimer, error) {
	fd, err := unix.TimerfdCreate(k.id, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK)
	if err != nil {
		return nil, err
	}
	t := &timerfd{k: k, file: os.NewFile(uintptr(fd), "timerfd"), fd: fd, last: lastTime}
	// If the poller has refused it, read would not wait: os.File does not say so until it is asked for a deadline.
	if err := t.file.SetReadDeadline(time.Time{}); err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

var errTooFar = errors.New("the time to be set is beyond what the kernel's interface holds")

func (t *timerfd) settime(at Instant) error {
	ns := t.kernel(at)
	if ns > t.last {
		if t.kernel(t.k.now()) >= t.last {
			return errTooFar // else the goroutine would wake at once, again and again
		}
		ns = t.last
	}
	if t.stopped {
		if err := t.file.SetReadDeadline(time.Time{}); err != nil {
			return err
		}
		t.stopped = false
	}
	err := t.set(max(ns, 1)) // 0 would stop it; what is before the kernel's zero has passed as much as 1 has
	if errors.Is(err, unix.ECANCELED) {
		// The clock was stepped, and nobody has read of it. The timer is set all the same, and by the new time.
		return nil
	}
	return err
}

// stop makes read return by a read deadline. To set the timer to a time that has passed would do it in one step, and
// was ten times as dear: the way through the kernel's interrupt and the poller is longer than the one inside the
// runtime.
func (t *timerfd) stop() error {
	t.stopped = true
	if err := t.file.SetReadDeadline(time.Unix(1, 0)); err != nil {
		return err
	}
	return t.set(0)
}

func (t *timerfd) set(ns int64) error {
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(ns)}
	return unix.TimerfdSettime(t.fd, unix.TFD_TIMER_ABSTIME|t.k.flags, &spec, nil)
}

// kernel is what the kernel's clock shows at an instant.
func (t *timerfd) kernel(at Instant) int64 { return int64(Instant(t.k.zero()).Add(time.Duration(at))) }

func (t *timerfd) read() error {
	_, err := t.file.Read(t.buf[:])
	return err
}

func (t *timerfd) close() { _ = t.file.Close() }

// probe reports whether the kernel has timers for a clock. Reasons that pass are none: until then alarms get along
// without.
func probe(name string, create func() (fd int, err error)) error {
	fd, err := create()
	switch {
	case err == nil:
		return unix.Close(fd)
	case errors.Is(err, unix.EMFILE), errors.Is(err, unix.ENFILE), errors.Is(err, unix.ENOMEM):
		return nil
	}
	return unsupported(name, fmt.Sprintf("linux (timerfd_create: %v)", err))
}

func (k *kernelClock) probe(name string) error {
	return probe(name, func() (int, error) { return unix.TimerfdCreate(k.id, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK) })
}
