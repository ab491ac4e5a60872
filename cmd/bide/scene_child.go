package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/execio"
)

func childScene() scene {
	return scene{
		name:    "child",
		trouble: "A command ignores TERM, and its own child, in a session of its own, holds the pipe.",
		code:    "err := bide.FailAfter(ctx, " + inGo(childBound) + ", func(ctx) error { return execio.Run(ctx, cmd) })",
		play:    func(ctx context.Context) measure { return playChild(ctx) },
	}
}

const (
	childBound = 300 * time.Millisecond // from when the grandchild is there
	childGrace = 200 * time.Millisecond
	childStart = 10 * time.Second // for it to be there
	childLife  = 30 * time.Second // after which it ends by itself, should the tour be killed meanwhile

	childArg   = "played-by-the-tour" // the first argument of bide by which it plays the child
	grandchild = "grandchild"
	childReady = "ready\n"
)

type childMeasure struct {
	ended     span
	err       error
	reaped    bool
	survivors bool // somebody still holds what only child and grandchild had
	setup     error
}

func playChild(ctx context.Context) (m childMeasure) {
	self, err := os.Executable()
	if err != nil {
		return childMeasure{setup: err}
	}
	held, holders, err := os.Pipe()
	if err != nil {
		return childMeasure{setup: err}
	}
	defer held.Close()
	cmd := exec.Command(self, childArg)
	cmd.ExtraFiles = []*os.File{holders}
	var start time.Time
	m.err = bide.FailAfter(ctx, childStart, func(ctx context.Context) error {
		out := &await{text: childReady, call: func() {
			start = time.Now()
			bide.From(ctx).SetTimeout(childBound)
		}}
		cmd.Stdout, cmd.Stderr = out, out // by a pipe
		err := execio.Runner{Grace: childGrace, Log: slog.New(slog.DiscardHandler)}.Run(ctx, cmd)
		if !start.IsZero() {
			m.ended = span{due: childBound + childGrace, took: time.Since(start)}
		} else if err != nil {
			m.setup = fmt.Errorf("%w: %s", err, out.got)
		}
		return err
	})
	holders.Close()
	m.reaped = cmd.ProcessState != nil
	_ = held.SetReadDeadline(time.Now().Add(forgiven))
	n, err := held.Read(make([]byte, 1))
	m.survivors = n > 0 || os.IsTimeout(err)
	return m
}

// await is a writer that calls once, when a text was written.
type await struct {
	text string
	call func()
	got  []byte
}

func (a *await) Write(b []byte) (int, error) {
	before := bytes.Contains(a.got, []byte(a.text))
	a.got = append(a.got, b...)
	if !before && bytes.Contains(a.got, []byte(a.text)) {
		a.call()
	}
	return len(b), nil
}

// playedByChild is what the child does, and the grandchild. It does not return.
func playedByChild(args []string) {
	if len(args) == 0 {
		signal.Ignore(syscall.SIGTERM)
		cmd := exec.Command(os.Args[0], childArg, grandchild)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		cmd.ExtraFiles = []*os.File{os.NewFile(3, "held")}
		cmd.SysProcAttr = ownSession()
		if err := cmd.Start(); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	} else {
		signal.Ignore(syscall.SIGTERM)
		fmt.Print(childReady)
	}
	time.Sleep(childLife)
	os.Exit(0)
}

func (m childMeasure) spans() []span {
	if m.setup != nil {
		return nil
	}
	return []span{m.ended}
}

func (m childMeasure) story() []string {
	if m.setup != nil {
		return []string{fmt.Sprintf("It cannot be shown on this system: %v", m.setup)}
	}
	return []string{
		"exec.CommandContext would kill the one, and wait for the other as long as it holds the pipe.",
		fmt.Sprintf("Both were sent TERM, had %s, and were killed. Nothing is left of them.", ms(childGrace)),
	}
}

func (m childMeasure) verdict() []string {
	if errors.Is(m.setup, errors.ErrUnsupported) {
		return nil // no promise was made
	}
	if m.setup != nil {
		return []string{fmt.Sprintf("it could not be played: %v", m.setup)}
	}
	broken := append(m.ended.verdict(), timedOut("Run", m.err)...)
	if !m.reaped {
		broken = append(broken, "Run returned, and the child was not reaped")
	}
	if m.survivors {
		broken = append(broken, "Run returned, and something of the tree lives on")
	}
	return broken
}
