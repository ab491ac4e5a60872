// Package park is what blocking primitives are made of: a place for a goroutine to wait, and the rule by which exactly
// one party ends the wait: a waker, a deadline, a context, or the goroutine itself. Package syncs is written on it, and
// with it you can write a primitive of your own. To use one, you need nothing of this package.
//
// # The pieces
//
//   - A [Waiter] is one goroutine's place to wait. The goroutine is its owner. [Get] and [GetUntil] take one for a
//     single wait, and [Put] gives it back; [New] makes one to keep, say for each connection.
//   - A [Token] names one wait of one waiter. [Waiter.Arm] starts the wait and returns it. Whoever has the token can
//     try to end that wait, and can never end another one: a token of an earlier wait, or the zero Token, wins nothing.
//   - [Waiter.Resolve] is the try. One caller wins, and says how the wait ended: the [Outcome]. Your own outcomes go
//     from [User] to [MaxOutcome].
//   - [Waiter.Unpark] is the wake-up. The winner owes it. [Waiter.Wake] is both.
//   - A [List] is a queue of waiters, for your primitive to embed. Its nodes are the waiters' own ([Waiter.Nodes]), so
//     that queueing allocates nothing. A [Batch] is several of them, resolved under the lock, to be unparked after it.
//   - A [Lot] is a table of such queues by key, with locks of its own, for what is too small or too many for one each.
//   - [WaitRecv] waits for a Go channel as well; [Waiter.WaitAgain] is for who may find, when woken, that others were
//     faster.
//   - A [Host] is a context's side, for those who write a context. bide's Scope is one.
//
// # The four steps
//
// A call that may block looks at its context first ([Err]), so that under a canceled one it does nothing. Then:
//
//	w := park.Get()
//	n := &w.Nodes(1)[0]
//	t := w.Arm(clock.Forever) // 1. arm
//	o := park.Woken
//
//	p.mu.Lock()
//	if p.ready { // 3. re-check; in one step with 2, since the lock is held
//		p.mu.Unlock()
//		w.Withdraw(t) // what was found counts, whatever this returns
//	} else {
//		p.queue.PushBack(n, w, t, park.Woken) // 2. publish
//		p.mu.Unlock()
//		if o = w.Wait(ctx, t, park.KindUser); o != park.Woken { // 4. wait
//			p.mu.Lock()
//			p.queue.Remove(n) // leave nothing behind
//			p.mu.Unlock()
//		}
//	}
//	park.Put(w)
//	if o == park.Woken {
//		return nil
//	}
//	return park.Reason(ctx)
//
// Armed comes before published: what others can see must be able to end. Published comes before the re-check, or both
// are one step under the lock: else a waker that came between the check and the publishing has found nobody, and its
// wake-up is lost. Without a lock, every word in this handshake is of sync/atomic: one plain field breaks it, and the
// race detector need not notice.
//
// The waker's side changes the state and resolves under the same lock, and wakes after it:
//
//	p.mu.Lock()
//	p.ready = true
//	w, _ := p.queue.Resolve()
//	p.mu.Unlock()
//	if w != nil {
//		w.Unpark()
//	}
//
// To wake several, or everybody, it collects them:
//
//	var all park.Batch
//	p.mu.Lock()
//	p.ready = true
//	all.Resolve(&p.queue, park.All)
//	p.mu.Unlock()
//	all.Unpark()
//
// When p is closed it is all.ResolveAs(&p.queue, park.All, park.Closed), and those who wait return an error of p's.
//
// # The four steps in a Lot
//
// [Lot.Park] takes the steps 1 to 4 by itself. The look is a function, called with the key's lock held, and so is what a
// waker does to the state:
//
//	o := p.lot.Park(ctx, &p.word, clock.Forever, park.KindUser, func() bool { return !p.ready(&p.word) })
//
//	p.lot.Wake(&p.word, 1, park.Woken, func(woken, left int) { p.update(&p.word, left > 0) })
//
// The key is most often the address of the word that is looked at. Self says that there was nothing to wait for, and
// Woken, by the usual agreement, to look again. [Lot.Requeue] moves waiters from one key to another: for a Broadcast
// whose waiters would all run into the same lock.
//
// # The iron rule
//
// Having armed, the owner leaves in one of two ways, and there is no third. Either it resolves the token itself, and
// then no wake-up will come. Or it was too late: a wake-up is owed, and it receives that before the waiter is armed or
// put back. [Waiter.Wait] and its variants and [Waiter.Withdraw] keep the rule; after Arm, call one of them, once.
//
// A waiter that goroutines share, one at a time, is claimed and not armed ([Waiter.Claim]): who withdraws in time lets go
// of it by that, and who was too late receives the wake-up, undoes what its hook has done, and then frees it.
//
// # What a resolver owes
//
//   - One Unpark for each Resolve that returned true, and none for one that returned false.
//   - After false, the next waiter. The one that was canceled a moment ago cannot take what you have to give, and
//     somebody behind it may be waiting for it. [List.Resolve] goes on by itself; if it returns nil, keep what you had.
//   - The token is read under the lock that guards the registration. Once that is unlocked the node may be another
//     wait's.
//
// # What an owner owes
//
//   - It is out of every list before its next Arm, and before Put. (So Put is not deferred: a waiter that a panic passed
//     by is left to the collector.)
//   - The outcome decides, not the context. If a grant won, the call returns success, whatever was canceled meanwhile.
//     If it lost, nothing was taken, and the call returns an error: that of [Reason], which is never nil.
//   - The deadline given to Arm is an instant of the monotonic clock, turned absolute once (clock.After). It is for a
//     bound of the call itself; the context's bound is not given to Arm. After [Expired], look at the context first: a
//     call's own timeout does not hide that its scope was canceled at the same moment.
//   - A value that WaitRecv has received is returned, whatever the outcome: nobody else gets it. If somebody granted
//     something in the same instant, the owner has both.
//   - A kept waiter that is dropped while it may still be linked is released ([Waiter.Release]).
//
// # Panics
//
// A user's context may panic in Wait, or end the goroutine. Then nobody is at the waiter any more, while it is still
// armed and queued: the next grant would be lost on it. What must not lose one ends the wait in a deferred function:
//
//	returned := false
//	defer func() {
//		if returned {
//			return
//		}
//		if w.Withdraw(t) == park.Woken {
//			p.release() // what was granted goes on
//		} else {
//			p.remove(n)
//		}
//	}()
//	o = w.Wait(ctx, t, park.KindUser)
//	returned = true
//
// Lot.Park does so, and gives a wake-up on to the next who waits for the key.
//
// # Locks
//
// Arm, Resolve, Wake and Unpark do not block and may be called with your lock held. Prefer to unlock before Unpark,
// since the goroutine that it wakes wants the lock next. Wait, WaitRecv and Withdraw are called with no lock held. A
// hook given to New runs inside Unpark. The methods of a Lot take its locks, and those that wake also unpark: they are
// called with no lock held that the woken want. What you give them runs with a lock of the Lot held, and may take
// yours, if nobody calls the Lot with that held.
//
// # Contexts
//
// Wait takes any context. Under a bide.Scope, and under values below one, the scope keeps a list of who waits, and its
// cancellation resolves them: a wait costs no goroutine and no select. Any other context is watched by its Done. A
// struct that overrides Done is watched by that one, whatever it embeds. One whose Done is nil ends no wait.
//
// To write a context that keeps such a list itself, implement [Host], embed [Waiters], and answer [Key] in Value.
//
// # Bubbles
//
// In a testing/synctest bubble every wait is durable, and deadlines are on the bubble's clock. Get and GetUntil see to
// it: there they do not use the pool. A waiter of New belongs to where it was made. As with channels, a bubble's waiter
// must not be woken from outside.
//
// # Memory model
//
// What the owner did before Arm happened before a Resolve of that token that succeeds. What a resolver did before its
// Unpark happened before the return of the Wait or Withdraw that it ends.
//
// # Testing
//
//   - Put the waits into a bubble: there "everybody is parked" is synctest.Wait, and time costs nothing. Or arm on a
//     virtual clock ([Waiter.ArmOn]).
//   - Under the race detector, and with the build tag bideinvariant, misuse panics: a Put of a waiter that is still
//     armed, filed or queued, or an Arm whose predecessor's wake-up was not received.
//   - With the tag bidestep a seeded scheduler gives way to other goroutines between the steps above.
//   - The examples are whole primitives: a latch; a mutex with a timeout, as Crystal's RFC 14 numbers its steps; locks
//     of one word, with a condition variable.
package park
