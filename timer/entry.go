package timer

import (
	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer/queue"
)

// An Owner embeds an [Entry] and decides what is due: the entry itself knows no deadline, so an owner moves its
// deadline later, or is armed again, without telling the service.
type Owner interface {
	// Due is asked when the entry's look has come; the entry is unlinked. It reports whether the owner fired, or
	// else when to look again ([clock.Forever]: not at all). now is the instant of the look: it has passed, and a
	// deadline is due if it is not after now.
	//
	// Context: a shard of the service is locked. It must not block, and must not call the service.
	Due(now clock.Instant) (again clock.Instant, fired bool)

	// Fire follows a Due that reported true. now is the driver's reading of the clock. Between the two the owner
	// may have been armed again, or stopped: what matters is looked at again.
	//
	// Context: the driver's goroutine, nothing locked. It must not block for long, and may call the service.
	// If it calls runtime.Goexit, the entries behind it are fired by another goroutine.
	Fire(now clock.Instant)
}

// An Entry is an owner's place in a [Service]: 48 bytes, embedded in the owner, no allocation. It must not be copied
// once it is linked, and it is linked in one service at a time.
//
// Calls of the service for one entry (Schedule, Cover, Cancel) are the owner's to serialize; the driver may unlink the
// entry at any time.
type Entry struct {
	_ noCopy

	// Tag is one more than the number of the shard that the entry is, or was last, linked in: read and written by the
	// callers of the service only. The rest is under that shard's lock, but for At, which is read anywhere.
	n queue.Node[Owner]
}

// Init says whose entry it is; once, before any other call.
func (e *Entry) Init(o Owner) { e.n.Owner = o }
