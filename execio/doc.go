// Package execio runs commands under a scope: a canceled command ends with everything that came from it, and the call
// returns only when nothing of that is left.
//
//	cmd := exec.Command("make", "test")
//	cmd.Stdout = &log
//	err := bide.FailAfter(ctx, time.Minute, func(ctx context.Context) error { return execio.Run(ctx, cmd) })
//
// exec.CommandContext kills one process, and waits for ever if another holds the pipe. [Run] sends the signal TERM to
// the whole tree, gives it a grace in which the cancellation does not reach the call, kills what is left, and reaps the
// process. A [Runner] has another grace, or another way to tell the command.
//
// # The tree
//
// On Linux it is read from /proc, again and again until a reading finds nobody new: the process, all descendants, and
// whoever is in a process group or session that one of them leads. So what a command has put into a session of its own
// is found, as long as its parent lives; and while it is searched for the tree is stopped (STOP, then CONT), so that its
// parent does, until everybody in it has stopped: for 100 ms at the most. A signal goes to a process that was identified
// by its start time, through a descriptor of it: never to another one that got the same pid.
//
// Out of reach is a process that has left the group or session and whose parent ended before the cancellation (a
// daemon), since the system then says nothing of where it came from. It is found if this process is a child subreaper,
// see [Runner.Subreaper]; the command bide run is one. Processes of other users that we may not signal are named in the
// error, and not waited for, the command's own process excepted: that is always waited for.
//
// On other Unix systems the tree is the process group. Where there is none, as on Windows, and on Linux without /proc,
// Run starts nothing and returns [errors.ErrUnsupported].
//
// # Concurrency
//
// Everything is safe for concurrent use. For each command that runs there is one goroutine, which waits for its end in
// a system call, beside those of package os/exec.
//
// # Duties of the caller
//
//   - Commands are made by exec.Command, not exec.CommandContext: the context is an argument of Run.
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
