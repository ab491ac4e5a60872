// Package netio puts network connections under a context: each read and write is bounded by the scope that is already
// there, without a deadline to compute, to set, or to remember.
//
//	c := netio.New(conn)
//	n, err := c.ReadContext(ctx, buf) // ends when ctx does
//
// Code that takes a net.Conn gets one that does everything under a context ([Bind]): bufio, io.Copy, crypto/tls.
//
// [Dial] tries the addresses of a name in the way of RFC 8305, "Happy Eyeballs", and [Listen] makes a listener whose
// Accept ends with its context. [Pipe] carries bytes between two connections until nothing has moved for too long.
//
// # How a read is bounded
//
// A connection has a waiter for each direction. The first operation under a scope files it there, and it stays filed
// when the operation is over: the next one under the same scope only arms it. No deadline is set for an operation, no
// timer and no goroutine started. A scope that is canceled pokes the connections that wait under it, by a deadline in
// the past; who was poked takes that away before anybody else gets the connection. An operation that was over before
// is never poked.
//
//   - Data beats cancellation. Bytes that were read are returned, with a nil error, and the next operation sees the
//     cancellation. No byte is lost: what was not read can be read later, under another scope.
//   - A write that is cut off returns how many bytes went out, and the context's error.
//   - Operations in the same direction come one after the other, in the order of their calls; one that waits for its
//     turn ends with its context, too.
//   - A connection whose scope is over can be used under another one.
//
// Below a context that has no scope, the connection is told by context.AfterFunc, once for each context in a row; that
// costs allocations, and a goroutine for contexts of a type of your own. A context that cannot end costs nothing.
//
// # What it costs
//
// An operation under the scope of the one before costs some 20 ns more than a bare one, and allocates nothing; the
// first under a scope takes the scope's lock, twice.
//
// # Duties of the caller
//
//   - One [Conn] around a net.Conn, which is not used beside it; for several contexts, [Bind] that Conn several times.
//   - Close it. A scope that lives long keeps a connection that was used under it and not closed.
//   - The connection's SetReadDeadline and SetWriteDeadline are called while a scope is being canceled: one of a type of
//     your own must not block in them. One that has no deadlines cannot be used here, and every operation says so.
package netio
