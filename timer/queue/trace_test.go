package queue_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer/queue"
)

// encode writes a trace into a buffer of that capacity, and returns how many operations fitted.
func encode(capacity int, ops []queue.Op) (trace []byte, n int) {
	b, ok := queue.AppendHeader(make([]byte, 0, capacity))
	before := clock.Instant(0)
	for ok && n < len(ops) {
		if b, ok = queue.AppendOp(b, before, ops[n]); ok {
			before = max(before, ops[n].Now)
			n++
		}
	}
	return b, n
}

func decode(trace io.Reader) (ops []queue.Op, err error) {
	r, err := queue.NewTraceReader(trace)
	if err != nil {
		return nil, err
	}
	for {
		op, err := r.Read()
		if err == io.EOF {
			return ops, nil
		}
		if err != nil {
			if _, again := r.Read(); again != err {
				return ops, errors.New("an error that does not stay")
			}
			return ops, err
		}
		ops = append(ops, op)
	}
}

// drawOps draws operations that a program can have made.
func drawOps(t *rapid.T) (ops []queue.Op) {
	var live, free []uint32
	now := clock.Instant(0)
	used := uint32(0)
	take := func(from *[]uint32) uint32 {
		i := rapid.IntRange(0, len(*from)-1).Draw(t, "which")
		id := (*from)[i]
		*from = slices.Delete(*from, i, i+1)
		return id
	}
	for range rapid.IntRange(0, 100).Draw(t, "operations") {
		now = now.Add(rapid.SampledFrom([]clock.Instant{0, 1, 100, 1e6, 1 << 40, 1 << 62}).Draw(t, "elapsed").Sub(0))
		op := queue.Op{Now: now}
		deadline := func() clock.Instant {
			return clock.Instant(rapid.Int64Range(0, int64(clock.Forever)).Draw(t, "at"))
		}
		switch k := rapid.IntRange(0, 4).Draw(t, "kind"); {
		case k == 0 || len(live) == 0:
			op.Kind, op.At = queue.Scheduled, deadline()
			if len(free) > 0 && rapid.Bool().Draw(t, "again") {
				op.ID = take(&free)
			} else {
				op.ID = used
				used++
			}
			live = append(live, op.ID)
		case k == 1:
			op.Kind, op.At = queue.Moved, deadline()
			op.ID = rapid.SampledFrom(live).Draw(t, "id")
		default:
			op.Kind = queue.Canceled
			if k == 2 {
				op.Kind = queue.Fired
			}
			op.ID = take(&live)
			free = append(free, op.ID)
		}
		ops = append(ops, op)
	}
	return ops
}

// TestTraceRoundTrip: what was appended is read, as far as the buffer went, also byte by byte.
func TestTraceRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ops := drawOps(t)
		capacity := rapid.IntRange(0, 4000).Draw(t, "capacity")
		trace, n := encode(capacity, ops)
		if len(trace) > capacity || cap(trace) > max(capacity, 0) {
			t.Fatalf("%d bytes in %d", len(trace), capacity)
		}
		if len(trace) == 0 {
			return
		}
		got, err := decode(iotest.OneByteReader(bytes.NewReader(trace)))
		if err != nil || !slices.Equal(got, ops[:n]) {
			t.Fatalf("%v: read %v, want %v", err, got, ops[:n])
		}
	})
}

func TestTraceIsBounded(t *testing.T) {
	full := make([]byte, 0, 60)
	b, ok := queue.AppendHeader(full)
	n := 0
	for before := clock.Instant(0); ok; n++ {
		b, ok = queue.AppendOp(b, before, queue.Op{Kind: queue.Scheduled, ID: uint32(n), Now: before, At: before + 1e9})
	}
	if &b[0] != &full[:1][0] || n < 2 {
		t.Errorf("%d operations, in a buffer of another's", n)
	}
	if same, ok := queue.AppendHeader(make([]byte, 0, 18)); ok || len(same) != 0 {
		t.Error("half a header")
	}
	buf := make([]byte, 0, 100)
	if got := testing.AllocsPerRun(10, func() { queue.AppendOp(buf, 5, queue.Op{Kind: queue.Moved, Now: 7, At: 9}) }); got != 0 {
		t.Errorf("%v allocations", got)
	}
}

// TestTraceOfOddInstants: what no instant is relative to is as good as what is.
func TestTraceOfOddInstants(t *testing.T) {
	trace, _ := encode(200, []queue.Op{
		{Kind: queue.Scheduled, ID: 0, Now: -5, At: -3},
		{Kind: queue.Moved, ID: 0, Now: 100, At: 1},
		{Kind: queue.Moved, ID: 0, Now: 90, At: clock.Forever},
		{Kind: queue.Fired, ID: 0, Now: clock.Forever},
	})
	got, err := decode(bytes.NewReader(trace))
	want := []queue.Op{{queue.Scheduled, 0, 0, 0}, {queue.Moved, 0, 100, 1}, {queue.Moved, 0, 100, clock.Forever}, {queue.Fired, 0, clock.Forever, 0}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v: %v, want %v", err, got, want)
	}
}

func TestTraceErrors(t *testing.T) {
	const h = "bide timer trace 1\n"
	const op = "bide/timer/queue: trace: operation "
	sched := string([]byte{0<<3 | 1, 5, 20}) // id 0, at 5, for 15
	for _, c := range []struct{ trace, want string }{
		{"", `bide/timer/queue: trace: does not begin with "bide timer trace 1"`},
		{"GIF89a, and so on, and on", `bide/timer/queue: trace: does not begin with "bide timer trace 1"`},
		{"bide timer tr", "bide/timer/queue: trace: truncated in the header"},
		{"bide timer trace 2\n" + sched, `bide/timer/queue: trace: a version other than 1: "2\n"`},
		{h, ""},
		{h + sched, ""},
		{h + sched[:2], op + "1: truncated"},
		{h + sched[:1], op + "1: truncated"},
		{h + "\x81", op + "1: truncated"},
		{h + sched + "\x02\x80", op + "2: truncated"},
		{h + "\x00", op + "1: unknown kind 0"},
		{h + sched + "\x05", op + "2: unknown kind 5"},
		{h + "\x09\x00\x00", op + "1: 1 is scheduled, but only 0 ids were used before: ids are dense"},
		{h + sched + sched, op + "2: 0 is scheduled, but that is not what comes next for it"},
		{h + "\x03\x00", op + "1: 0 is canceled, but that is not what comes next for it"},
		{h + sched + "\x03\x00\x04\x00", op + "3: 0 is fired, but that is not what comes next for it"},
		{h + sched + "\x0a\x00\x00", op + "2: 1 is moved, but that is not what comes next for it"},
		{h + "\x81\x80\x80\x80\x80\x01", op + "1: id 4294967296 is too large"},
		{h + "\xf9\xff\xff\xff\x7f\x00\x00", op + "1: 4294967295 is scheduled, but only 0 ids were used before: ids are dense"},
		{h + strings.Repeat("\xff", 11), op + "1: binary: varint overflows a 64-bit integer"},
		{h + "\x01" + strings.Repeat("\xff", 9) + "\x01", op + "1: its time is beyond what an instant can be"},
		{h + "\x01\x05" + strings.Repeat("\xff", 9) + "\x01", op + "1: its deadline is beyond what an instant can be"},
		{h + "\x01\x05" + "\xfe" + strings.Repeat("\xff", 8) + "\x01", op + "1: its deadline is beyond what an instant can be"},
		{h + "\x01\x00\xff\x7f", op + "1: its deadline is beyond what an instant can be"},
	} {
		_, err := decode(strings.NewReader(c.trace))
		if got := errorText(err); got != c.want {
			t.Errorf("%q: %q, want %q", c.trace, got, c.want)
		}
	}
	broken := errors.New("the disk is gone")
	for n := range len(h) + 3 {
		_, err := decode(io.MultiReader(strings.NewReader((h + sched)[:n]), iotest.ErrReader(broken)))
		if !errors.Is(err, broken) {
			t.Errorf("after %d bytes: %v", n, err)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestKindString(t *testing.T) {
	for k, want := range []string{"kind 0", "scheduled", "moved", "canceled", "fired", "kind 5"} {
		if got := queue.Kind(k).String(); got != want {
			t.Errorf("%d is %q, want %q", k, got, want)
		}
	}
}

// FuzzTrace: a reader survives all bytes, and what it has read can be written and read again.
func FuzzTrace(f *testing.F) {
	f.Add([]byte("bide timer trace 1\n\x01\x05\x14\x02\x05\x28\x03\x01"))
	f.Add([]byte("bide timer trace 1\n\x01\x00\x02\x09\x00\x02\x04\x01\x01\x00\x00"))
	f.Add([]byte("bide timer trace 1\n\x01\x05\xff\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		ops, err := decode(bytes.NewReader(data))
		if err != nil && !strings.HasPrefix(err.Error(), "bide/timer/queue: trace: ") {
			t.Fatalf("error %v", err)
		}
		trace, n := encode(64+64*len(ops), ops)
		if n != len(ops) {
			t.Fatalf("%d of %d operations fitted", n, len(ops))
		}
		again, err := decode(bytes.NewReader(trace))
		if err != nil || !slices.Equal(again, ops) {
			t.Fatalf("%v: %v, want %v", err, again, ops)
		}
	})
}
