//go:build linux

package e2e

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"bide.invalid/bide"
)

// TestMain stops what several tests share.
func TestMain(m *testing.M) {
	code := m.Run()
	stopPostgres()
	os.Exit(code)
}

// long leaves out by -short what takes a second and more.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("SKIPPED: starts other programs, and waits in real time; left out by -short")
	}
}

// missing ends a test whose peer is not there.
func missing(t *testing.T, peer, install string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("no %s, and CI=true: apt-get install %s", peer, install)
	}
	t.Skipf("SKIPPED: no %s: apt-get install %s", peer, install)
}

// find is the path of a peer's program.
func find(name string, dirs ...string) string {
	if p, err := exec.LookPath(name); err == nil {
		return p
	}
	for _, dir := range dirs {
		if found, _ := filepath.Glob(filepath.Join(dir, name)); len(found) > 0 {
			return found[len(found)-1]
		}
	}
	return ""
}

// A helper is another program, which serves a test until it is stopped. It dies with us.
type helper struct {
	cmd   *exec.Cmd
	out   bytes.Buffer
	ended chan struct{}
}

// start starts one, as another user if it will not run as root. The thread that starts it has to live as long as it does,
// so it is one that never ends.
func start(stop syscall.Signal, as *syscall.Credential, name string, args ...string) (*helper, error) {
	h := &helper{cmd: exec.Command(name, args...), ended: make(chan struct{})}
	h.cmd.Stdout, h.cmd.Stderr = &h.out, &h.out
	h.cmd.Dir = "/"
	h.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as, Pdeathsig: stop, Setpgid: true}
	err := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread() // not to end it
		err <- h.cmd.Start()
		_ = h.cmd.Wait()
		close(h.ended)
	}()
	return h, <-err
}

// stop sends it a signal, and waits for its end.
func (h *helper) stop(sig syscall.Signal) {
	_ = h.cmd.Process.Signal(sig)
	<-h.ended
}

// unprivileged is who runs what refuses to be run by root: the user of that name, or nobody; nil if we are not root.
func unprivileged(name string) *syscall.Credential {
	if os.Getuid() != 0 {
		return nil
	}
	u, err := user.Lookup(name)
	if err != nil {
		if u, err = user.Lookup("nobody"); err != nil {
			return nil
		}
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

// folder is a temporary one that belongs to whom.
func folder(whom *syscall.Credential) (string, error) {
	dir, err := os.MkdirTemp("", "bide-e2e-")
	if err == nil && whom != nil {
		err = os.Chown(dir, int(whom.Uid), int(whom.Gid))
	}
	return dir, err
}

// until asks, again and again, until the answer is yes. If it never is the test fails, instead of hanging.
func until(what string, yes func(ctx context.Context) bool) error {
	return bide.FailAfter(context.Background(), time.Minute, func(ctx context.Context) error {
		for !yes(ctx) {
			if err := bide.Sleep(ctx, 5*time.Millisecond); err != nil {
				return fmt.Errorf("waiting for %s: %w", what, err)
			}
		}
		return nil
	}, bide.Name(what))
}

var seedOnce = sync.OnceValue(func() uint64 {
	if s, err := strconv.ParseUint(os.Getenv("BIDE_SEED"), 10, 64); err == nil {
		return s
	}
	return rand.Uint64()
})

// random is a source of a test's own; BIDE_SEED replays it.
func random(t *testing.T) *rand.Rand {
	t.Logf("BIDE_SEED=%d", seedOnce())
	return rand.New(rand.NewPCG(seedOnce(), 0))
}
