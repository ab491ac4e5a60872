//go:build linux

package execio_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/execio"
)

// stubborn says that it got the signal, and goes on.
const stubborn = `trap 'echo term' TERM; echo ready; while :; do sleep 1000 & wait $!; done`

// exec cancelled → SIGTERM, 5 s in a shield, SIGKILL + warning.
func TestConformance110TermGraceKill(t *testing.T) {
	c := newCrew(t)
	v := clock.NewVirtual()
	cmd := c.sh(stubborn)
	out := newLines()
	cmd.Stdout = out
	log, text := logged()
	var inner error
	done := make(chan error)
	go func() {
		done <- bide.FailAfter(t.Context(), time.Minute, func(ctx context.Context) error {
			inner = execio.Runner{Log: log}.Run(ctx, cmd)
			return inner
		}, bide.Clock(v), bide.Name("work"))
	}()
	out.want(t, "ready")
	v.Advance(time.Minute)
	out.want(t, "term")
	v.Advance(execio.DefaultGrace - time.Millisecond)
	select {
	case err := <-done:
		t.Fatalf("over before the grace was: %v", err)
	default:
	}
	if len(c.Left()) == 0 || text.Len() > 0 {
		t.Errorf("killed before the grace was over: %s", text)
	}
	v.Advance(time.Millisecond)
	err := <-done

	var timeout *bide.TimeoutError
	var canceled *bide.Canceled
	if !errors.As(err, &timeout) || timeout.Scope != "work" {
		t.Errorf("FailAfter returned %v", err)
	}
	if !errors.As(inner, &canceled) || inner != error(canceled) || canceled.Source != bide.ByDeadline {
		t.Errorf("Run returned %v, want the scope's *Canceled and nothing else", inner)
	}
	if !strings.Contains(text.String(), "level=WARN") || !strings.Contains(text.String(), "execio: killed what did not end") {
		t.Errorf("logged %q, want a warning", text)
	}
	if st := cmd.ProcessState; st == nil || st.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Errorf("it ended by %v", st)
	}
	c.gone()
}

// One that obeys is not killed, nobody is warned, and Run does not wait for the rest of the grace.
func TestConformance110TermIsEnough(t *testing.T) {
	c := newCrew(t)
	for _, script := range []string{
		`echo ready; exec sleep 1000`,
		// Its exit code is that of success. What it starts says when it is ready: who is forked later gets no TERM.
		`trap 'exit 0' TERM; while :; do sh -c 'echo ready; exec sleep 1000' & wait $!; done`,
	} {
		cmd := c.sh(script)
		out := newLines()
		cmd.Stdout = out
		log, text := logged()
		b := start(t.Context(), execio.Runner{Grace: long, Log: log}.Run, cmd)
		out.want(t, "ready")
		why := errors.New("why")
		b.cancel(why)
		if err := b.wait(); !errors.Is(err, context.Canceled) && !errors.Is(err, why) {
			t.Errorf("%s: %v", script, err)
		}
		if text.Len() > 0 {
			t.Errorf("%s: logged %s", script, text)
		}
		c.gone()
	}
}

// killer cancelled as soon as the process ends
func TestConformance110KillerEndsWithTheProcess(t *testing.T) {
	c := newCrew(t)
	cmd := c.sh(`echo ready; exec sleep 1000`)
	out := newLines()
	cmd.Stdout = out
	var inside, left error
	r := execio.Runner{Grace: long, Log: quiet, Kill: func(ctx context.Context, tree *execio.Tree) error {
		inside = ctx.Err()
		if err := tree.Process().Signal(syscall.SIGTERM); err != nil {
			return err
		}
		<-ctx.Done()
		left = bide.Check(ctx)
		return left
	}}
	b := start(t.Context(), r.Run, cmd)
	out.want(t, "ready")
	b.cancel(nil)
	if err := b.wait(); err != context.Canceled {
		t.Errorf("Run returned %v", err)
	}
	if inside != nil || left == nil {
		t.Errorf("the killer's context: %v at first, %v in the end", inside, left)
	}
}

// C only after it is reaped
func TestConformance110CanceledAfterReaping(t *testing.T) {
	c := newCrew(t)
	cmd := c.sh(`echo ready; exec sleep 1000`)
	out := newLines()
	cmd.Stdout = out
	b := start(t.Context(), execio.Run, cmd)
	out.want(t, "ready")
	b.cancel(nil)
	err := b.wait()
	if !errors.Is(err, context.Canceled) || cmd.ProcessState == nil {
		t.Errorf("%v, process state %v", err, cmd.ProcessState)
	}
	if err := cmd.Process.Signal(syscall.Signal(0)); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("the process answers %v", err)
	}
}

// killer's own error joined. Custom killer allowed.
func TestConformance110KillersError(t *testing.T) {
	c := newCrew(t)
	cmd := c.sh(stubborn)
	out := newLines()
	cmd.Stdout = out
	broken := errors.New("killer broke")
	log, text := logged()
	r := execio.Runner{Grace: long, Log: log, Kill: func(context.Context, *execio.Tree) error { return broken }}
	var inner error
	err := bide.Run(t.Context(), func(s *bide.Scope) error {
		b := start(s, r.Run, cmd)
		out.want(t, "ready")
		s.Cancel(nil)
		inner = b.wait()
		return inner
	})
	if !errors.Is(inner, broken) || !errors.Is(inner, context.Canceled) {
		t.Errorf("Run returned %v, want the cancellation and the killer's error", inner)
	}
	if err != broken {
		t.Errorf("the scope returned %v, want the killer's error: its own cancellation it absorbs", err)
	}
	if !strings.Contains(text.String(), "WARN") {
		t.Error("it was killed without a warning")
	}
}

// A killer that is cut by the grace has not failed.
func TestConformance110KillerCut(t *testing.T) {
	c := newCrew(t)
	v := clock.NewVirtual()
	cmd := c.sh(stubborn)
	out := newLines()
	cmd.Stdout = out
	called := make(chan struct{})
	r := execio.Runner{Grace: time.Second, Log: quiet, Kill: func(ctx context.Context, tree *execio.Tree) error {
		close(called)
		return bide.Sleep(ctx, time.Hour)
	}}
	var inner error
	moved := make(chan bool)
	go func() {
		m, err := bide.MoveOnAfter(t.Context(), time.Minute, func(ctx context.Context) error {
			inner = r.Run(ctx, cmd)
			return inner
		}, bide.Clock(v))
		moved <- m && err == nil
	}()
	out.want(t, "ready")
	v.Advance(time.Minute)
	<-called
	v.Advance(time.Second)
	if !<-moved {
		t.Errorf("MoveOnAfter does not absorb %v", inner)
	}
	var canceled *bide.Canceled
	if !errors.As(inner, &canceled) || inner != error(canceled) {
		t.Errorf("Run returned %v", inner)
	}
}
