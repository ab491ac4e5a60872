//go:build linux

package execio_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"bide.invalid/bide/execio"
)

// The tests' own program forks, where this variable says so.
const asForks = "EXECIO_TEST_AS_FORKS"

func TestMain(m *testing.M) {
	if os.Getenv(asForks) != "" {
		forks()
	}
	os.Exit(m.Run())
}

// Many threads fork, as fast as they can, when the process is stopped: some of them are in the middle of it. Their
// children leave the session at once, so that nothing leads to who was missed, once the parent has ended. It is killed:
// of TERM this program dies by a handler, beside which other threads go on to fork.
func TestForkMeetsStop(t *testing.T) {
	rounds := 3
	if testing.Short() {
		rounds = 1
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := newCrew(t)
	atOnce := func(_ context.Context, tree *execio.Tree) error { return tree.Signal(syscall.SIGKILL) }
	for range rounds {
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), string(c.Mark), asForks+"=1")
		out := newLines()
		cmd.Stdout = out
		b := start(t.Context(), execio.Runner{Kill: atOnce, Log: quiet}.Run, cmd)
		out.want(t, "ready")
		b.cancel(nil)
		if err := b.wait(); !errors.Is(err, context.Canceled) {
			t.Errorf("Run returned %v", err)
		}
		if c.gone(); t.Failed() {
			break
		}
	}
}

// forks says ready when all of its threads have begun. It does not return.
func forks() {
	const threads, children = 8, 20 // of each, should nobody stop it
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	var begun atomic.Int64
	for range threads {
		go func() {
			runtime.LockOSThread()
			for i := range children {
				fork(uintptr(epoll))
				if i == 0 && begun.Add(1) == threads {
					fmt.Println("ready")
				}
			}
		}()
	}
	time.AfterFunc(forkLife, func() { os.Exit(0) })
	select {}
}

const forkLife = 1000 * time.Second // as of those who sleep in other tests

// fork is the system call, without the lock by which those of package syscall are one after the other. The child has
// one thread, and no runtime that works: it makes system calls only.
//
//go:norace
//go:nosplit
func fork(epoll uintptr) {
	flags := [2]uintptr{uintptr(unix.SIGCHLD), 0}
	if runtime.GOARCH == "s390x" { // whose clone has them second
		flags[0], flags[1] = flags[1], flags[0]
	}
	if pid, _, _ := unix.RawSyscall6(unix.SYS_CLONE, flags[0], flags[1], 0, 0, 0, 0); pid == 0 {
		_, _, _ = unix.RawSyscall(unix.SYS_SETSID, 0, 0, 0)
		// It sleeps: nothing is watched there.
		_, _, _ = unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, epoll, 0, 1, uintptr(forkLife.Milliseconds()), 0, 0)
		for {
			_, _, _ = unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
		}
	}
}
