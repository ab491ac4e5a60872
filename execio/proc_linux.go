package execio

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// An ident tells a process from all others of this boot: its pid, and when it started, in clock ticks.
type ident struct {
	pid   int
	start uint64
}

// A proc is a process as /proc/PID/stat has it.
type proc struct {
	ident
	parent, group, session int
	threads                int
	state                  byte // of the first thread
	dead                   bool // a zombie, all threads of which have ended
}

// table reads all processes.
func table() (map[int]proc, error) {
	var buf [statSize]byte
	return read(list, func(pid int) (proc, error) { return look(pid, buf[:]) })
}

// read lists and looks until nobody has come meanwhile. Then whoever was stopped, or dead, has no child that is missing:
// it was looked at before the last list was made, and starts nobody afterwards. (Where processes come faster than they
// are read, it gives up after some rounds.)
func read(list func() ([]int, error), look func(pid int) (proc, error)) (map[int]proc, error) {
	all := map[int]proc{}
	for range rounds {
		pids, err := list()
		if err != nil {
			return nil, err
		}
		before := len(all)
		for _, pid := range pids {
			if _, ok := all[pid]; ok {
				continue
			}
			switch p, err := look(pid); {
			case err == nil:
				all[pid] = p
			case err != errGone && !errors.Is(err, fs.ErrPermission): // who is hidden (hidepid) cannot be signaled either
				return nil, err
			}
		}
		if len(all) == before {
			break
		}
	}
	return all, nil
}

// list returns the pids of all processes.
func list() ([]int, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	names, err := dir.Readdirnames(-1)
	dir.Close()
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

const statSize = 1024

var errGone = errors.New("execio: no such process")

// look reads one process. The error is errGone if there is none of that pid, another if that could not be found out.
func look(pid int, buf []byte) (proc, error) {
	name := "/proc/" + strconv.Itoa(pid) + "/stat"
	fd, err := retry(func() (int, error) { return unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC, 0) })
	if err == nil {
		var n int
		n, err = retry(func() (int, error) { return unix.Read(fd, buf) })
		unix.Close(fd)
		if err == nil {
			return parseStat(pid, buf[:n])
		}
	}
	if err == unix.ENOENT || err == unix.ESRCH {
		return proc{}, errGone
	}
	return proc{}, &fs.PathError{Op: "read", Path: name, Err: err}
}

func retry(f func() (int, error)) (n int, err error) {
	for err = unix.EINTR; err == unix.EINTR; {
		n, err = f()
	}
	return n, err
}

// parseStat reads the fields of proc_pid_stat(5). The second, the program's name in parentheses, may contain anything,
// parentheses too.
func parseStat(pid int, stat []byte) (proc, error) {
	const state, parent, group, session, threads, start = 0, 1, 2, 3, 17, 19 // field numbers less 3
	f := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(f) <= start {
		return proc{}, fmt.Errorf("execio: /proc/%d/stat is not understood: %q", pid, stat)
	}
	var errs []error
	number := func(i int) int {
		n, err := strconv.Atoi(string(f[i]))
		errs = append(errs, err)
		return n
	}
	p := proc{ident: ident{pid: pid}, parent: number(parent), group: number(group), session: number(session)}
	p.threads, p.state = number(threads), f[state][0]
	p.dead = ended(p.state) && p.threads <= 1 // of a process whose first thread has ended the others may go on
	t, err := strconv.ParseUint(string(f[start]), 10, 64)
	p.start = t
	if err := errors.Join(append(errs, err)...); err != nil {
		return proc{}, fmt.Errorf("execio: /proc/%d/stat is not understood: %w", pid, err)
	}
	return p, nil
}

func ended(state byte) bool { return state == 'Z' || state == 'X' || state == 'x' }

// stopped reports whether all threads of p are stopped or have ended, so that it starts nobody; and if not, whether those
// that are neither are deaf: in a wait that no signal ends, such as that of a vfork for its child.
func (p proc) stopped() (stopped, deaf bool) {
	states := []byte{p.state}
	if p.threads > 1 {
		states = nil
		stats, _ := filepath.Glob("/proc/" + strconv.Itoa(p.pid) + "/task/*/stat")
		for _, name := range stats {
			stat, err := os.ReadFile(name)
			if err != nil {
				continue // it has ended meanwhile
			}
			if t, err := parseStat(p.pid, stat); err == nil {
				states = append(states, t.state)
			}
		}
	}
	stopped, deaf = true, true
	for _, s := range states {
		if s != 'T' && s != 't' && !ended(s) {
			stopped = false
			deaf = deaf && s == 'D'
		}
	}
	return stopped, deaf && !stopped
}

// current reads the process again. The error is errGone if it is gone, whether another has its pid or nobody.
func (id ident) current() (proc, error) {
	var buf [statSize]byte
	p, err := look(id.pid, buf[:])
	if err == nil && p.ident != id {
		err = errGone
	}
	return p, err
}

// living reports whether it still runs; what cannot be found out is taken for alive.
func (id ident) living() bool {
	p, err := id.current()
	return err == nil && !p.dead || err != nil && err != errGone
}

// send signals the process, and nobody else: the descriptor is of the process that has the pid now, and if that
// started when ours did, it is ours. That it is gone is no error.
func (id ident) send(sig syscall.Signal) error {
	fd, err := unix.PidfdOpen(id.pid, 0)
	if err == unix.ESRCH {
		return nil
	}
	if err == nil {
		defer unix.Close(fd)
	}
	_, lookErr := id.current()
	switch {
	case lookErr == errGone:
		return nil
	case lookErr != nil:
		return lookErr
	case err == nil:
		err = unix.PidfdSendSignal(fd, sig, nil, 0)
	default:
		// A kernel before 5.3, or one that forbids it: the pid would have to be reused within these microseconds.
		err = unix.Kill(id.pid, sig)
	}
	if err == nil || err == unix.ESRCH {
		return nil
	}
	return fmt.Errorf("execio: signal %v to process %d: %w", sig, id.pid, err)
}

// ready reports whether the processes of this system can be seen, by the pids that they have for us: a /proc of another
// pid namespace has others, or none for us.
func ready() error {
	if self, err := os.Readlink("/proc/self"); err == nil && self != strconv.Itoa(os.Getpid()) {
		return fmt.Errorf("execio: /proc is of another pid namespace, mount that of this one: %w", errors.ErrUnsupported)
	}
	if _, err := look(os.Getpid(), make([]byte, statSize)); err != nil {
		return fmt.Errorf("execio: no processes in /proc, is it mounted? (%w): %w", err, errors.ErrUnsupported)
	}
	return nil
}

// awaitEnd waits until the child has ended, and does not reap it. It reports false if that cannot be seen.
func awaitEnd(pid int) bool {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return err == nil
		}
	}
}
