// Package execio runs commands under a scope: a canceled command ends with everything that came from it, and the call
// returns only when nothing of that is left.
//
//	cmd := exec.Command("make", "test")
//	cmd.Stdout = &log
//	err := bide.FailAfter(ctx, time.Minute, func(ctx context.Context) error { return execio.Run(ctx, cmd) })
//
// exec.CommandContext kills one process, and waits for ever if another one holds the pipe. [Run] sends the signal TERM
// to the command's whole tree of processes, gives it a grace to end, kills what is left, and reaps the process. The
// cancellation does not cut the grace short. A [Runner] has another grace, or another way to tell the command to end.
//
// # The tree
//
// The tree is the command's process, all its descendants, and the members of every process group and session that one
// of them leads. On Linux it is read from /proc, repeatedly, until a reading finds nothing new. A process that has put
// itself into a session of its own is found through its parent, so the parent must not end meanwhile: while it is read
// the tree is stopped (the signals STOP, then CONT): for a second at most, where one that was sent STOP does not get to
// run; for 100 ms, where the stop has come between a vfork and its exec. A process is identified by its start time and
// signaled through a descriptor, so that a signal never goes to another process that got the same pid.
//
// Out of reach is a daemon: a process that has left the group and the session, and whose parent ended before the
// cancellation, or was asked to end, started it then, and ended. The system then says nothing of where it came from.
// It is found if this process is a child subreaper, see [Runner.Subreaper]; the command bide run is one. Processes of
// other users that may not be signaled are named in the error, and not waited for, except for the command's own
// process, which is always waited for.
//
// On other Unix systems the tree is the process group. Where there is none, as on Windows, and on Linux without /proc or
// with that of another pid namespace, Run starts nothing and returns [errors.ErrUnsupported].
//
// # Concurrency
//
// Everything is safe for concurrent use. For each command that runs there is one goroutine, which waits for its end in
// a system call, beside those of package os/exec; and while its Stdin is read, unless that is a file or in memory, another
// one.
//
// # Duties of the caller
//
//   - Commands are made by exec.Command, not exec.CommandContext: the context is an argument of Run.
//   - A command that is to know its deadline is told by cmd.Env = wire.Environ(ctx): Run does not do it.
//   - Nobody else waits for children of this process by wait(-1).
//   - A command that is to read from the terminal needs the caller's process group, or to be the foreground one:
//     SysProcAttr{Setpgid: true, Pgid: syscall.Getpgrp()}, or Foreground.
//   - What the command has left behind when it ended by itself lives on, as with package os/exec.
//
// # In tests
//
// Processes live in real time; Grace runs on the clock of the scope, which may be a virtual one. A testing/synctest
// bubble is no place for them: the end of a process is nothing that its clock knows.
package execio
