package queue

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"bide.invalid/bide/clock"
)

// A trace is what a program did with its timers, so that it can be done again with another queue:
//
//	trace  = "bide timer trace 1\n" op*
//	op     = head elapsed [ahead]
//	head   = uvarint(id<<3 | kind)
//	elapsed = uvarint(now - now of the operation before; of the first: now)
//	ahead  = varint(at - now), of Scheduled and Moved only
//
// Varints are those of encoding/binary. A timeout that is scheduled and canceled takes about 15 bytes.
//
// A timer has an id from Scheduled until Canceled or Fired; then the id is free for another one. Ids are dense: a new
// one is at most as large as the number of ids that were used before. A timer that was scheduled before the recording
// began is not in the trace, nor is what happens to it.
//
// Fired says that, and when, the recorded program's timer came. A replayed queue fires by itself, at its own time;
// whoever replays takes Fired for the end of the id's life, and for what there is to count: without it a trace would
// not tell how many timers came.

// traceHeader begins a trace. The number is the format's version.
const traceHeader = "bide timer trace 1\n"

// A Kind is what an [Op] does.
type Kind uint8

// The kinds; 0 is none.
const (
	Scheduled Kind = 1 + iota // id begins, At is its deadline
	Moved                     // At is the new deadline
	Canceled                  // id ends
	Fired                     // id ends: it came
)

func (k Kind) String() string {
	if k < Scheduled || k > Fired {
		return fmt.Sprintf("kind %d", uint8(k))
	}
	return [...]string{"scheduled", "moved", "canceled", "fired"}[k-1]
}

// An Op is an operation of a trace, on timer ID at Now.
type Op struct {
	Kind    Kind
	ID      uint32
	Now, At clock.Instant
}

// maxOp is how many bytes an operation takes at most: an id has 35 bits with the kind.
const maxOp = 5 + 2*binary.MaxVarintLen64

// AppendHeader begins a trace. It appends nothing if the header does not fit into the capacity of b.
func AppendHeader(b []byte) (longer []byte, ok bool) {
	if cap(b)-len(b) < len(traceHeader) {
		return b, false
	}
	return append(b, traceHeader...), true
}

// AppendOp appends an operation, if it fits into the capacity of b; nothing is allocated, so it may be called under a
// lock, and the capacity bounds the memory. Not ok: b is full, and the trace ends there; to leave out one operation
// and to append later ones would spoil it. before is Now of the operation before, 0 for the first. A Now that is
// earlier than that counts as before, and instants before 0 as 0.
func AppendOp(b []byte, before clock.Instant, op Op) (longer []byte, ok bool) {
	if cap(b)-len(b) < maxOp {
		return b, false
	}
	before = max(before, 0)
	now := max(op.Now, before)
	b = binary.AppendUvarint(b, uint64(op.ID)<<3|uint64(op.Kind&7))
	b = binary.AppendUvarint(b, uint64(now-before))
	if op.Kind == Scheduled || op.Kind == Moved {
		b = binary.AppendVarint(b, int64(max(op.At, 0)-now))
	}
	return b, true
}

// A TraceReader reads a trace, operation by operation. It takes a byte of memory for each id.
type TraceReader struct {
	r    *bufio.Reader
	n    int // operations read
	now  clock.Instant
	live []bool // by id
	err  error
}

// NewTraceReader reads the header.
func NewTraceReader(r io.Reader) (*TraceReader, error) {
	t := &TraceReader{r: bufio.NewReader(r)}
	got := make([]byte, len(traceHeader))
	n, err := io.ReadFull(t.r, got)
	version := len(traceHeader) - len("1\n")
	switch {
	case err != nil && err != io.EOF && err != io.ErrUnexpectedEOF:
		return nil, fmt.Errorf("bide/timer/queue: trace: %w", err)
	case string(got[:n]) == traceHeader:
		return t, nil
	case n > version && string(got[:version]) == traceHeader[:version]:
		return nil, fmt.Errorf("bide/timer/queue: trace: a version other than 1: %q", got[version:n])
	case n > 0 && string(got[:n]) == traceHeader[:n]:
		return nil, errors.New("bide/timer/queue: trace: truncated in the header")
	}
	return nil, fmt.Errorf("bide/timer/queue: trace: does not begin with %q", traceHeader[:len(traceHeader)-1])
}

// Read returns the next operation; io.EOF: there is none. Nows do not go back, and each id is scheduled, then moved
// any number of times, then canceled or fired, and so on: anything else is an error. After an error it stays.
func (t *TraceReader) Read() (Op, error) {
	if t.err != nil {
		return Op{}, t.err
	}
	op, err := t.read()
	switch {
	case err == io.EOF:
		t.err = err
	case err != nil:
		t.err = fmt.Errorf("bide/timer/queue: trace: operation %d: %w", t.n+1, err)
	}
	if t.err != nil {
		return Op{}, t.err
	}
	t.n++
	return op, nil
}

// read is Read without the words around an error.
func (t *TraceReader) read() (op Op, err error) {
	head, err := t.uvarint()
	if err != nil {
		return op, err // io.EOF: here a trace may end
	}
	op.Kind, op.ID = Kind(head&7), uint32(head>>3)
	switch {
	case op.Kind < Scheduled || op.Kind > Fired:
		return op, fmt.Errorf("unknown %v", op.Kind)
	case head>>3 > 1<<32-1:
		return op, fmt.Errorf("id %d is too large", head>>3)
	}
	elapsed, err := t.uvarint()
	if err != nil {
		return op, truncated(err)
	}
	if elapsed > uint64(clock.Forever-t.now) {
		return op, errors.New("its time is beyond what an instant can be")
	}
	op.Now = t.now + clock.Instant(elapsed)
	if op.Kind == Scheduled || op.Kind == Moved {
		ahead, err := binary.ReadVarint(t.r)
		if err != nil {
			return op, truncated(err)
		}
		op.At = op.Now + clock.Instant(ahead)
		if op.At < 0 { // the sum wraps, or the deadline is before 0
			return op, errors.New("its deadline is beyond what an instant can be")
		}
	}
	if err := t.lives(op); err != nil {
		return op, err
	}
	t.now = op.Now
	return op, nil
}

// lives checks that it is the id's turn for this kind.
func (t *TraceReader) lives(op Op) error {
	used := uint64(len(t.live))
	if id := uint64(op.ID); op.Kind == Scheduled && id >= used {
		if id > used {
			return fmt.Errorf("%d is scheduled, but only %d ids were used before: ids are dense", id, used)
		}
		t.live = append(t.live, true)
		return nil
	} else if id >= used || t.live[id] == (op.Kind == Scheduled) {
		return fmt.Errorf("%d is %v, but that is not what comes next for it", id, op.Kind)
	}
	t.live[op.ID] = op.Kind == Scheduled || op.Kind == Moved
	return nil
}

// uvarint reads one; io.EOF: at its first byte.
func (t *TraceReader) uvarint() (uint64, error) {
	u, err := binary.ReadUvarint(t.r)
	if err == io.ErrUnexpectedEOF {
		err = errors.New("truncated")
	}
	return u, err
}

// truncated says what an end within an operation is.
func truncated(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errors.New("truncated")
	}
	return err
}
