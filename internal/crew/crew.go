// Package crew finds the processes that came from a test's commands, wherever they went: by a variable that they have
// inherited. It reads /proc, and finds nobody where there is none.
package crew

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
)

const name = "BIDE_TEST_CREW"

var crews atomic.Int64

// A Mark is a variable NAME=VALUE, which a test puts into the environment of its commands.
type Mark string

// New returns a Mark that nobody has yet.
func New() Mark { return Mark(fmt.Sprintf("%s=%d.%d.", name, os.Getpid(), crews.Add(1))) }

// Left returns who has the Mark and lives. A zombie does not: it has no environment any more. Processes are listed until
// nobody has come meanwhile: a child may be born when its parent is in the list, and before the parent dies.
func (m Mark) Left() (pids []int) {
	seen := map[string]bool{}
	for more := true; more; {
		more = false
		for _, dir := range processes() {
			if seen[dir] {
				continue
			}
			seen[dir], more = true, true
			if bytes.Contains(environ(dir), []byte(m)) {
				pid, _ := strconv.Atoi(filepath.Base(dir))
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// Dismiss kills who is Left, until nobody is.
func (m Mark) Dismiss() {
	for pids := m.Left(); len(pids) > 0; pids = m.Left() {
		for _, pid := range pids {
			if p, err := os.FindProcess(pid); err == nil {
				_ = p.Kill()
			}
		}
	}
}

// Zombies returns /proc/PID/stat of the caller's own children that have not been reaped.
func Zombies() (found []string) {
	for _, dir := range processes() {
		if f := stat(dir); len(f) > 1 && f[0] == "Z" && f[1] == strconv.Itoa(os.Getpid()) {
			found = append(found, dir+": "+fmt.Sprint(f))
		}
	}
	return found
}

func processes() []string {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	return dirs
}

// stat returns the fields of a process from the third on, its state, or nil if there is no such process.
func stat(dir string) []string {
	b, _ := os.ReadFile(dir + "/stat")
	var f []string
	for _, s := range bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:]) {
		f = append(f, string(s))
	}
	return f
}

// environ returns the environment of a process. In the middle of an execve a process has none, nor the address of its
// code, which is set last: then it is read again. Zombies and threads of the kernel have neither for good.
func environ(dir string) []byte {
	const state, flags, code, start, end = 0, 6, 23, 47, 48 // field numbers of proc_pid_stat(5) less 3
	const kthread = 0x00200000
	for {
		env, err := readOnce(dir + "/environ")
		if err != nil || len(env) > 0 {
			return env
		}
		f := stat(dir)
		if len(f) <= end || f[state] == "Z" || f[state] == "X" || f[code] != "0" && f[start] == f[end] {
			return nil
		}
		if n, err := strconv.ParseUint(f[flags], 10, 64); err != nil || n&kthread != 0 {
			return nil
		}
	}
}

// readOnce reads a file in one call of read: what /proc gives of a process that execve replaces between two is torn.
func readOnce(name string) ([]byte, error) {
	for size := 1 << 16; ; size *= 2 {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		buf := make([]byte, size)
		n, err := f.Read(buf)
		f.Close()
		switch {
		case err != nil && err != io.EOF:
			return nil, err
		case n < size:
			return buf[:n], nil
		}
	}
}
