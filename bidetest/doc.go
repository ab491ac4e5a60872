// Package bidetest tests code that waits, without waiting, cancels it wherever it can be canceled, and finds what it leaves
// behind.
//
//	func TestRetry(t *testing.T) {
//		bidetest.Bubble(t, func(t *testing.T, ctx context.Context) {
//			ctx, clock := bidetest.Virtual(t)
//			go retry(ctx)
//			bidetest.Settle(t) // it has failed once, and sleeps
//			clock.Advance(time.Second)
//			bidetest.Settle(t)
//			…
//		})
//	}
//
// # The races of tests with a clock
//
// A test that moves a clock by hand has two goroutines or more, and nobody says who is first.
//
// Moved too early. The test starts a goroutine, which is to sleep for a second, and moves the clock by a second. If
// the goroutine has not come to its Sleep by then, it begins it a second later, sees a clock that stands, and sleeps
// for ever. A time.Sleep in the test makes this seldom, and slow. So: [Settle] before the clock is moved. When it
// returns the other goroutines are parked, which in a synctest bubble somebody knows: the runtime.
//
// Looked at too early. The clock has been moved, who slept is woken, and the test looks at what he does. But to be
// woken is not to have run. When Advance returns everything that was due has been woken, timers called and deadlines
// carried out; so: Settle before the test looks.
//
// Moved too far. The test moves the clock by a minute, past several deadlines. Who is woken by the first one goes on,
// and sleeps for a second: from when? Advance does not wait for him, so the clock may be at the first deadline, or at
// the end. Code that runs in steps is to be moved in steps: [JumpUntil] goes to the next deadline, settles, and looks
// again.
//
// Ended too early. The test is over, a goroutine that it has started is not: it waits for a lock, or for an event that
// nobody sets, perhaps with a scope open and a timer set. The test has passed, and a later one fails. So at its end
// [Virtual], [Bubble] and [NoLeaks] look who is left, and the test fails that is to blame.
//
// # The races of tests with a cancellation
//
// A cancellation meets code at one of its cancel points, and a test that sleeps for a while and then cancels does not say
// at which. What reaches production is the one that lands between two waits, or on a grant.
//
// Too early, or too late. Canceled before it begins, the code fails at its first look; a moment later it has come through.
// A test of either has seen nothing of what lies between. [Explore] runs the code once for each point, and cancels it
// just there.
//
// Too quiet. What a canceled call keeps, a place, a lock, fails nothing now: it is missed by whoever comes next. So
// Explore calls again, and looks for what is open, what waits, and what runs; what only the test can know it asks.
//
// Too polite. The peer of a test answers at once. One that drips, stalls, resets, or has gone without a word is a [Conn]
// that was told to; on fake time it costs nothing to wait for it.
//
// Not at all. A wait without a bound ends in every test, and not in that one night. [Bounded] complains of it when it
// begins.
//
// By chance. If it is one order of events that is to be tested, a [Sequencer] has the goroutines keep to it. Which orders
// there are, and that the rare one is right, is no question for a test that asks for one.
//
// # Which clock
//
// In a bubble, time.Now and the monotonic clock of this module are fake: they stand while anybody runs, and jump to
// the next timer when everybody is parked, by themselves. For most tests this is enough: [Bubble], and no second
// clock. A [Virtual] moves only when the test moves it. It is for a test of what happens at one instant, before or
// after another, for code that is on a clock of its own (bide's option Clock), and for tests outside of a bubble. The
// two do not mix well in one goroutine: who sleeps on the bubble's time is parked as far as Settle can see, and
// JumpUntil does not wake him.
//
// Somebody who waits for the world outside of the bubble is not parked: a system call, a connection, a sync.Mutex.
// Time stands still for him on both clocks, and Settle waits. The locks and queues of package syncs are parked when
// they wait.
//
// # Parallel tests
//
// What is left below a scope is that scope's, and what is left in a bubble is that bubble's: [Virtual] and [Bubble],
// and [NoLeaks] in a bubble, hold in tests that run in parallel. NoLeaks outside of a bubble looks at the whole
// process.
//
// # Testing tests
//
// What fails a test takes a [TB], which is little (only [Bubble] needs the real one), so that a helper of yours can be
// tested, for failing when it should, with a TB that takes notes.
package bidetest
