// Package netio puts network connections under a context: each read and write is bounded by the scope that is already
// there, and there is no deadline to compute, to set, or to remove afterwards.
//
//	c := netio.New(conn)
//	n, err := c.ReadContext(ctx, buf) // ends when ctx does
//
// For code that takes a net.Conn and no context, such as bufio, io.Copy and crypto/tls, [Bind] makes one whose reads
// and writes are all under one context.
//
// [Dial] tries the addresses of a name in the way of RFC 8305, "Happy Eyeballs", and [Listen] makes a listener whose
// Accept ends with its context. [Pipe] carries bytes between two connections until nothing has moved for too long.
//
// # How a read is bounded
//
// A connection is registered with a scope, once for each direction, by its first operation under that scope, and stays
// registered for the next ones. An operation sets no deadline, and starts no timer and no goroutine. When the scope is
// canceled, it ends the operations that wait under it by setting a deadline in the past on their connections; an
// operation that was ended so removes that deadline before anybody else gets the connection. One that was over before
// is left alone.
//
//   - Data beats cancellation. Bytes that were read are returned, with a nil error, and the next operation sees the
//     cancellation. No byte is lost: what was not read can be read later, under another scope.
//   - A write that is cut off returns how many bytes went out, and the context's error.
//   - Operations in the same direction come one after the other; one that waits for its turn ends with its context,
//     too. Who waits is woken in the order of the calls, but one that comes just then may be faster.
//   - A connection whose scope is over can be used under another one.
//   - A deadline that you set on the connection holds beside the context, and is there again when a poke is over.
//   - The first operation on a TLS connection does the handshake, under its context. One that is cut off there, or in a
//     write, leaves a TLS connection that is of no use any more; one that is cut off in a read does not.
//
// Under a context that has no scope above it, the connection registers by context.AfterFunc, again whenever the context
// is another one than before. That costs allocations, and for contexts of a type of your own a goroutine. A context
// that cannot end costs nothing.
//
// # What it costs
//
// An operation under the scope of the one before costs some 15 ns more than a bare one, two compare-and-swaps, and
// allocates nothing; under a value below a scope, or a standard context, some 40 ns. The first under a scope takes the
// scope's lock, twice.
//
// # Duties of the caller
//
//   - Make one [Conn] of a net.Conn, and do not use the net.Conn beside it. For several contexts, [Bind] the Conn
//     several times.
//   - Close it, or what Bind has made of it; to close the net.Conn is not enough. A scope that lives long keeps a
//     connection that was used under it and not closed. The other way round, an idle connection keeps the last context
//     of each direction, with its values, until it is closed, or used under another one.
//   - The connection's SetReadDeadline and SetWriteDeadline are called while a scope is being canceled: those of a type
//     of your own must not block, nor panic, nor wait for a Read that is under way. One that has no deadlines cannot be
//     used here, and every operation says so.
package netio
