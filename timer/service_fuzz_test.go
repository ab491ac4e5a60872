package timer

import (
	"testing"
	"time"
)

// parseOps reads four bytes as an operation: kind, player, and a time of up to 63 bits.
func parseOps(data []byte) (ops []op) {
	for len(data) >= 4 && len(ops) < 100 {
		o := op{kind: opKind(data[0]&15) % opKinds, id: int(data[1]) % players}
		o.arg = time.Duration(uint64(data[2])<<(data[3]%58)) & (1<<63 - 1)
		if data[0]&16 != 0 && (o.kind == opSchedule || o.kind == opCover) {
			o.arg = -o.arg
		}
		if data[0]&32 != 0 {
			o.arg--
			o.arg = max(o.arg, 0)
		}
		ops = append(ops, o)
		data = data[4:]
	}
	return ops
}

// FuzzServiceBubble plays the machine of service_machine_test.go. The first byte says which service.
func FuzzServiceBubble(f *testing.F) {
	const advance, sched, cancel, next, cover, later, idle = byte(opAdvance), byte(opSchedule), byte(opCancel), byte(opNext),
		byte(opCover), byte(opLater), byte(opIdle)
	for _, seed := range [][]byte{
		{0, sched, 0, 5, 0, advance, 0, 64, 0, sched, 0, 5, 0, advance, 0, 5, 0},           // the same slot, a turn later
		{1, sched, 0, 5, 20, sched, 1, 5, 19, advance, 0, 1, 22, cancel, 1, 0, 0},          //
		{0, sched, 0, 255, 57, sched, 1, 1, 36, next, 0, 0, 0, next, 0, 0, 0},              // far away
		{1, sched | 16, 0, 9, 21, advance, 0, 9, 21, sched | 16, 1, 3, 20, sched, 0, 0, 0}, // past
		{0, cover, 0, 100, 0, idle, 0, 0, 0, cover, 0, 120, 0, later, 0, 9, 3, cover, 0, 7, 0, advance, 0, 255, 0},
		{2, sched, 0, 5, 0, sched, 1, 5, 0, sched | 16, 2, 9, 0, sched, 3, 1, 40, cancel, 1, 0, 0, next, 0, 0, 0, next, 0, 0, 0},
		{1, byte(opRepeat), 2, 1, 20, sched, 2, 64, 20, sched | 32, 3, 64, 20, advance, 0, 255, 22},
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) == 0 {
			return
		}
		if err := play(t, [...]uint8{0, coarse, exact, exact}[data[0]&3], parseOps(data[1:])); err != nil {
			t.Fatal(err)
		}
	})
}
