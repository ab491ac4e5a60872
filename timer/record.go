package timer

import (
	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/step"
	"bide.invalid/bide/timer/queue"
)

// Record starts to write down what happens in the service: each entry that is scheduled, moved, canceled or fired, and
// when. stop ends it and returns the trace, in the format that package queue reads, and how many operations found no
// room any more: the trace takes at most limit bytes (a timeout that is canceled some ten), and meanwhile each pending
// entry some 50. What was pending before is not in it; nor is what a sticky owner does without a call (Cover that
// finds itself covered), nor what happens in bubbles.
//
// While it is on each operation reads the clock and takes a lock that all shards share: it is for an hour of a program's
// life, to be replayed on other queues. One recording at a time: else it panics.
func (s *Service) Record(limit int) (stop func() (trace []byte, lost int)) {
	b, ok := queue.AppendHeader(make([]byte, 0, max(limit, 0)))
	if !ok {
		panic("bide/timer: Record: the limit has no room for a trace's header")
	}
	r := &recorder{clock: s.clock, b: b, lives: map[*queue.Node[Owner]]life{}}
	s.setRecorder(r)
	return func() ([]byte, int) {
		s.setRecorder(nil)
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.b, r.lost
	}
}

func (s *Service) setRecorder(r *recorder) {
	for i := range s.shards {
		sh := &s.shards[i]
		sh.mu.Lock()
		if r != nil && sh.rec != nil && !sh.bubble {
			sh.mu.Unlock()
			panic("bide/timer: Record while a recording is on")
		}
		if !sh.bubble {
			sh.rec = r
		}
		sh.mu.Unlock()
	}
}

// A recorder is what the shards of a service write to. Its lock comes after theirs.
type recorder struct {
	clock clock.Clock

	mu     step.Mutex
	b      []byte
	before clock.Instant // of the latest operation
	lives  map[*queue.Node[Owner]]life
	free   []uint32 // ids
	lost   int
}

// life is an entry that is pending, and in the trace.
type life struct {
	id uint32
	at clock.Instant
}

// scheduled: n is linked, or moved, for at.
func (r *recorder) scheduled(n *queue.Node[Owner], at clock.Instant) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l, known := r.lives[n]
	kind := queue.Moved
	if !known {
		kind, l.id = queue.Scheduled, uint32(len(r.lives))
		if k := len(r.free); k > 0 {
			l.id, r.free = r.free[k-1], r.free[:k-1]
		}
	}
	if l.at = at; r.append(queue.Op{Kind: kind, ID: l.id, At: at}) {
		r.lives[n] = l
	}
}

// looked: n was looked at, and fired, or is linked again for at, or was found idle: canceled without a call.
func (r *recorder) looked(n *queue.Node[Owner], again clock.Instant, fired bool) {
	switch {
	case fired:
		r.ended(n, queue.Fired)
	case again == clock.Forever:
		r.ended(n, queue.Canceled)
	default:
		r.mu.Lock()
		defer r.mu.Unlock()
		if l, known := r.lives[n]; known && l.at != again { // else it has only come to a finer level
			if l.at = again; r.append(queue.Op{Kind: queue.Moved, ID: l.id, At: again}) {
				r.lives[n] = l
			}
		}
	}
}

// ended: n was taken out.
func (r *recorder) ended(n *queue.Node[Owner], kind queue.Kind) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l, known := r.lives[n]; known && r.append(queue.Op{Kind: kind, ID: l.id}) {
		delete(r.lives, n)
		r.free = append(r.free, l.id)
	}
}

// append writes an operation of now. Once one was lost all later ones are.
func (r *recorder) append(op queue.Op) bool {
	op.Now = max(r.clock.Now(), r.before)
	ok := r.lost == 0
	if ok {
		r.b, ok = queue.AppendOp(r.b, r.before, op)
	}
	if !ok {
		r.lost++
		return false
	}
	r.before = op.Now
	return true
}
