// Package syncs has synchronization primitives that can all be bounded and canceled: every call that may block takes a
// context first and returns an error. (The methods LockUntil and RLockUntil take an instant instead. What Locker and
// RLocker return, for code that wants a sync.Locker, has no bound, and neither has the second half of Cond.Wait, which
// takes the lock again.)
//
//	var mu syncs.Mutex
//
//	if err := mu.Lock(ctx); err != nil {
//		return err // not taken
//	}
//	defer mu.Unlock()
//
// # Use this when
//
//	Mutex        a lock; the fast one
//	FairMutex    a lock that is given in the order of asking; LockAsync takes a place (Ticket) now, to wait later
//	RWMutex      a lock for many readers or one writer; a writer that waits keeps new readers out
//	KeyedMutex   a lock for each key: a user, a file, a row
//	Guard        a value that can be had only with its lock held
//	Cond         to wait, with a lock held, until what it guards has changed
//	Semaphore    to have at most n at a time, where one may need several; n can change
//	Event        to wait until something has happened, once or until Reset; releases everybody
//	AutoEvent    to wake one for each Set; a Set that finds nobody is kept, but not counted
//	Future       to wait for a value or an error that comes once, or to be called with it
//	WaitGroup    to wait until everything that was started has ended
//	Barrier      n parties that wait for each other, round after round
//	Sequencer    to wait until a counter has reached a number: a version, an offset, a turn
//	Futex        to wait for a change of words that are changed without a lock
//	Queue        to hand values on, in order, with bounded room; it can be closed from either side
//	Pool         to lend a bounded number of things that are dear to make: connections
//	Flight       to make one call serve all who ask for the same key meanwhile
//	WaitAny      the first of several: Event, Future, WaitGroup, Sequencer.At, At, Recv (each a Waitable)
//	WaitAll      all of several, each at some moment since the call
//	At           an instant as one of them: a bound that is not an error
//	Recv         a channel as one of them, one a call
//	Stats        to see who has a lock or permits and who waits; PoolStats and QueueStats likewise
//	ErrClosed    to tell that a primitive was closed, or its waiters were sent away
//	ErrTooLarge  to tell that a Semaphore will never have as many permits
//	PanicError   to tell that a Flight's function has panicked, and where
//
// A scope's end cancels every one of these waits: to give up on several things at once needs no primitive. Goroutines
// that all end before a function does are a nursery's affair, in package bide; so there is no errgroup here.
//
// # What holds for all of them
//
//   - A call looks at its context before it acts: under a canceled one it does nothing, however free the lock is.
//   - An error means that nothing was taken, and nothing is left behind. nil means that it was, even if the context was
//     canceled in the same instant; the next call will say so. A grant is never thrown away: one that meets a canceled
//     waiter goes to the next.
//   - Under a scope of package bide the error is its *Canceled; under any other context its Cause, if that matches its
//     Err, else its Err.
//   - A wait costs no goroutine and no timer, since the scope that bounds it has the one timer; and no allocation once
//     the pools are warm, outside of synctest bubbles.
//   - Primitives are ready when zero, are not to be copied once used, and panic when misused. (The zero Semaphore has
//     no permits, the zero Queue no room, the zero Barrier one party; a Pool needs New, a Cond needs L.)
//   - They work in testing/synctest bubbles, where their waits are durable, and under any context.
//
// # Beside sync and x/sync
//
// Every blocking call takes a context and returns an error: this is not repeated below. Misuse panics here, where some
// of sync's ends the process.
//
//   - sync.Mutex: Lock can also be bounded by an instant (LockUntil), and Stats says who waits. Fairness is alike:
//     after a millisecond of losing, the lock is handed over. Lock costs the look at the context more.
//   - sync.RWMutex: the priorities are the same. A writer that gives up lets the readers in that it kept waiting.
//   - sync.Cond: there is no NewCond, set L. Wait returns with L held, with an error too, so the defer that unlocks
//     stays right. A Wait that returns an error has consumed no Signal.
//   - sync.WaitGroup: it may be used again at once, and Add may come beside a Wait. An Add below 0 panics before it
//     changes anything.
//   - sync.Pool keeps memory for reuse and may drop it at any time. A Pool here lends a counted number of items, makes
//     them, hands them from one to the next, and destroys each once.
//   - semaphore.Weighted: FIFO as well. To ask for more than there is in all fails at once, with [ErrTooLarge], and
//     does not wait for the context to end. The size can change.
//   - singleflight.Group: typed. The function runs on a goroutine of its own, under a context that is canceled when the
//     last caller has left, and each caller leaves by itself. If it calls Goexit the callers get an error. There is no
//     Forget and no DoChan.
//   - errgroup.Group is bide.WithNursery; its SetLimit is a Semaphore.
//   - A channel: a Queue can be closed while others put: they get [ErrClosed] and do not panic. A canceled Get or Put
//     has done nothing, and a canceled context wins over a value that is there, where a select would toss a coin. FIFO
//     holds for waiters, too. A Queue is not in a select and not in a WaitAny; a channel is, by [Recv].
//   - A closed channel as a signal: an Event can be set twice, and reset.
//   - sync.Once and sync.Map have no twin here.
package syncs
