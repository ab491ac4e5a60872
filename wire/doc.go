// Package wire carries deadlines to other processes, so that a child's bound is never wider than its parent's.
//
//	cmd := exec.Command("backup", "/srv")
//	cmd.Env = wire.Environ(ctx) // and the child: left, ok := wire.FromEnviron()
//
// # In the environment
//
// The variable [EnvDeadline] is absolute, since a relative value would not shrink while it is handed on:
//
//	v1;boot=ID;boottime=NANOSECONDS;wall=TIME
//
// boot is what /proc/sys/kernel/random/boot_id says, and boottime the deadline on CLOCK_BOOTTIME, which counts from the
// start of the machine, through suspension, and is never set. A reader with the same boot id goes by it. Any other
// reader, a container's that got a virtual machine of its own for instance, goes by wall, the deadline in wall time as
// RFC 3339 writes it, and so trusts the two clocks to agree. Where there is no boottime (on other systems than Linux)
// it is v1;wall=TIME. The order of the fields is free, and unknown ones are skipped. A process in a time namespace of
// its own, with the same boot id and another boottime, reads a wrong deadline.
//
// What is not understood is no deadline: it is warned about, once, and ignored. The deadline is only ever set in the
// environment of a child, never in that of the process itself. It does not travel by ssh, nor into a container that is
// started by a daemon, unless one passes the variable on.
//
// # In headers
//
//	wire.Inject(ctx, req.Header)           // the caller
//	d, ok := wire.Extract(r.Header)        // the callee; then bide.FailAfter(ctx, min(d, most), …)
//
// A header is relative, a [Header] of those that are in use: the clocks of two machines need not agree. Inside of a
// process it is an instant of the monotonic clock again. What a message is on its way is not deducted; a [Budget] keeps
// Slack back for it. Values are rounded down. The smallest of the headers that are there counts; garbage is ignored, and
// counted ([Ignored]).
//
// # Trust
//
// Nothing here enforces a deadline: what is inherited takes effect where it is made the bound of a scope. A header is the
// wish of whoever has sent it: cap it with a maximum of your own. (Package httpio does both.)
//
// # Concurrency
//
// Everything is safe for concurrent use; no goroutine is started. In a testing/synctest bubble wall times are those of
// the bubble, boottime is real: do not mix them.
package wire
