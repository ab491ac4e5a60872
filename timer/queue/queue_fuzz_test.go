package queue

import (
	"testing"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/stress"
)

// fuzzed are the queues that bytes are played on: all but those that have smaller ones of their kind in the list.
func fuzzed() (all []Candidate) {
	for _, c := range candidates() {
		if c.Name != "wheel-simple" && c.Name != "wheel-hashed" {
			all = append(all, c)
		}
	}
	return all
}

// playBytes plays three bytes as an operation, on all queues at once: kind, item, and a time of up to 59 bits.
func playBytes(t testing.TB, data []byte) {
	const n = 8
	var players []*player
	for _, c := range fuzzed() {
		players = append(players, newPlayer(t, c, n))
	}
	for step := 0; len(data) >= 3 && step < 100; step++ {
		kind, id := data[0]%8, int(data[1])%n
		d := time.Duration(data[2]&15) << (4 * (data[2] >> 4) * 15 / 16)
		if data[0]&8 != 0 {
			d -= time.Duration(data[1] >> 3)
		}
		data = data[3:]
		told := players[0].told
		at := told.Add(d)
		next := min(players[0].next(), clock.Forever-1)
		for _, p := range players {
			var err error
			switch kind {
			case 0, 1:
				err = p.schedule(id, at, p.find(id) >= 0)
			case 2:
				err = p.schedule(id, at, true)
			case 3:
				err = p.cancel(id)
			case 4:
				_, err = p.expire(min(max(told, at), clock.Forever-1), n, false)
			case 5:
				_, err = p.expire(next, n, false)
			case 6:
				_, err = p.expire(next, 1, true)
			case 7:
				err = p.schedule(id, clock.Forever-clock.Instant(d), true)
			}
			if err != nil {
				t.Fatalf("%s, step %d (kind %d, item %d, %d): %v", p.c.Name, step, kind, id, d, err)
			}
		}
	}
	for _, p := range players {
		if _, err := p.drain(); err != nil {
			t.Fatalf("%s, at the end: %v", p.c.Name, err)
		}
	}
}

func FuzzQueues(f *testing.F) {
	f.Add([]byte{0, 1, 5, 0, 2, 5, 0, 3, 3, 5, 0, 0, 3, 1, 0, 3, 1, 0})
	f.Add([]byte{0, 1, 0x65, 0, 2, 0x65, 2, 1, 0x68, 6, 0, 0, 0, 1, 0x21, 2, 2, 0x11, 4, 0, 0x7f, 3, 2, 0})
	f.Add([]byte{4, 0, 0xc3, 0, 1, 0xd1, 1, 2, 0xe1, 8, 3, 0x61, 7, 4, 0x11, 5, 0, 0, 5, 0, 0, 2, 2, 0x61, 6, 0, 0})
	f.Add([]byte{0, 0, 0x91, 0, 1, 0x92, 0, 2, 0x93, 0, 3, 0x94, 3, 1, 0, 3, 2, 0, 0, 1, 0x93, 2, 0, 0x95, 5, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) { playBytes(t, data) })
}

// TestQueuesRead: the fuzz target's reading of bytes reaches every kind of operation, near and far.
func TestQueuesRead(t *testing.T) {
	source := stress.Source(t)(0)
	rounds := 300
	if testing.Short() {
		rounds = 50
	}
	for range rounds {
		data := make([]byte, 3*60)
		for i := range data {
			data[i] = byte(source.Uint32())
		}
		playBytes(t, data)
	}
}
