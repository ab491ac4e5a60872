// Package httpio puts HTTP under scopes: a request is bounded from the dial to the last byte of its answer's body, the
// server knows how long its client waits, and it ends in good order.
//
//	client := &http.Client{Transport: httpio.Transport(nil)}
//	err := bide.FailAfter(ctx, 2*time.Second, func(ctx context.Context) error { … client.Do(req.WithContext(ctx)) … })
//
//	srv := &http.Server{Handler: httpio.Middleware(30*time.Second, mux)}
//	bide.Main(func(ctx context.Context) error { return httpio.Serve(ctx, srv, listener) })
//
// # The client
//
// [Transport] tells the server, in a header, how much time is left (package wire), and opens a scope for each
// try, which ends when the answer's body is closed, or read to its end. A [Tripper] has a budget: it keeps slack back, so
// that the server gives up first and can say why, bounds each try, and does not ask a server that would have too little
// time.
//
// # The server
//
// [Middleware] opens a scope for each request, with what the client has left, and not more than its own maximum. At its
// end what is read from the client fails, and what is being written has a second left. If nothing was written when the
// handler returns, the client is told: 504. Nothing is buffered.
//
// [Serve] serves until its context drains, lets what was begun come to its end, and ends the rest with its context.
//
// # Who was too slow
//
// An answer of 504 has a header, Timed-Out-Hop, with the name of the scope that ran out of time. [Check] makes a
// [*HopError] of it, and [Error] answers with it in turn: so the culprit's name comes back through any number of hops.
//
// # What the parts of an error say
//
//   - a [*bide.TimeoutError] with the server's host for a name: the bound of a try (a Tripper's Budget);
//   - a [*wire.BudgetError]: the server was not asked, there was too little time;
//   - a [*HopError]: a server has answered that it, or one behind it, ran out of time;
//   - a [*bide.Canceled]: a scope around the call has ended; it says which.
package httpio
