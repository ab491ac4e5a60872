package park

import (
	"strconv"
	"sync/atomic"

	"bide.invalid/bide/internal/step"
)

// The word of a waiter.
//
//	63            8 7       1 0
//	| generation 56 | outcome 7 | armed 1 |
//
// While armed it is the token. 56 bits of generation do not repeat: at one wait a nanosecond that takes two years.
//
//	idle      armed 0, outcome 0        never armed
//	armed     armed 1, outcome 0
//	resolved  armed 0, outcome not 0    until the next Arm
//
//	T1 idle, resolved → armed    Arm: the owner, one store; generation + 1
//	T2 armed → resolved          Resolve: anybody, one CAS from the token. It cancels the timeout as well, since
//	                             the driver believes no deadline before it has read an armed word
//
// A waiter that goroutines share (Waiter.Claim) has one of them as its owner at a time. It is free while idle, or resolved
// with Self; who resolves it with Self, or frees it, is its owner no more.
//
//	T3 free → armed              Claim: anybody, one CAS, and is the owner then; generation + 1
//	T4 resolved → free           Free: the owner, one store: the outcome becomes Self
//
//	I1 a generation is resolved at most once; T4 changes what was resolved
//	I2 a token of an earlier generation never wins: its CAS fails
//	I3 whoever took T2 sends exactly one wake-up; the owner took T2 itself (Self), or receives it before the next T1
//
// The deadline lies beside the word (Waiter.due), stored before T1. A driver that reads an old word with a new
// deadline is harmless: later, and it looks again then, as it would have been told anyway; passed, and its CAS fails.
//
// Not in one word, as {deadline, sequence, armed}: under one absolute deadline only the sequence tells two waits apart,
// and the 22 bits that are left for it repeat in ten milliseconds.
type word struct{ v atomic.Uint64 }

const (
	armedBit     = 1
	outcomeShift = 1
	genShift     = 8
)

// A Token names one wait of one waiter: what a waker needs to end it, and no other. The zero Token never wins.
type Token struct{ v uint64 }

// An Outcome says who ended a wait.
type Outcome uint8

// The outcomes. The values from User to MaxOutcome are the primitive's own.
const (
	Pending    Outcome = iota // not ended
	Woken                     // a waker: granted
	Expired                   // the deadline given to Arm
	Canceled                  // the context
	Closed                    // the primitive, which will not grant any more
	Self                      // the owner took it back (Withdraw)
	User                      // the first free value
	MaxOutcome Outcome = 127
)

var outcomeNames = [...]string{"pending", "woken", "expired", "canceled", "closed", "self"}

// String names the outcome.
func (o Outcome) String() string {
	if o < User {
		return outcomeNames[o]
	}
	return "user+" + strconv.Itoa(int(o-User))
}

// mustEnd panics unless a wait can end with o.
func (o Outcome) mustEnd(call string) {
	if o == Pending || o > MaxOutcome {
		panic("bide/park: " + call + " with the outcome " + o.String())
	}
}

// arm: T1. Owner only.
func (w *word) arm() Token {
	v := (w.v.Load()>>genShift+1)<<genShift | armedBit
	step.At("park.arm")
	w.v.Store(v) // T1
	return Token{v}
}

// claim: T3.
func (w *word) claim() (t Token, ok bool) {
	v := w.v.Load()
	if !isFree(v) {
		return t, false
	}
	t = Token{(v>>genShift+1)<<genShift | armedBit}
	step.At("park.claim")
	return t, w.v.CompareAndSwap(v, t.v) // T3
}

// free: T4. Owner only.
func (w *word) free() {
	v := w.v.Load()>>genShift<<genShift | uint64(Self)<<outcomeShift
	step.At("park.free")
	w.v.Store(v) // T4
}

func isFree(v uint64) bool {
	state := v & (1<<genShift - 1)
	return state == 0 || state == uint64(Self)<<outcomeShift
}

// resolve: T2.
func (w *word) resolve(t Token, o Outcome) bool {
	step.At("park.resolve")
	return t.v&armedBit != 0 && w.v.CompareAndSwap(t.v, t.v&^armedBit|uint64(o)<<outcomeShift) // T2
}

// current is the token, if there is one.
func (w *word) current() (t Token, armed bool) {
	v := w.v.Load()
	return Token{v}, v&armedBit != 0
}

func (w *word) outcome() Outcome { return Outcome(w.v.Load() >> outcomeShift & uint64(MaxOutcome)) }
