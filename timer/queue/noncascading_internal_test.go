package queue

import (
	"fmt"
	"testing"
	"time"

	"bide.invalid/bide/clock"
)

// rfc12 is RFC 12's own table of a wheel with 512 buckets and a tick of 10 ms: what a level's buckets last, and which
// timeouts it takes.
var rfc12 = []struct{ granularity, from, to time.Duration }{
	{10 * time.Millisecond, 0, 630 * time.Millisecond},
	{80 * time.Millisecond, 640 * time.Millisecond, 5110 * time.Millisecond},
	{640 * time.Millisecond, 5120 * time.Millisecond, 40950 * time.Millisecond},
	{5120 * time.Millisecond, 40960 * time.Millisecond, 327670 * time.Millisecond},
	{40960 * time.Millisecond, 327680 * time.Millisecond, 2621430 * time.Millisecond},
	{327680 * time.Millisecond, 2621440 * time.Millisecond, 20971510 * time.Millisecond},
	{2621440 * time.Millisecond, 20971520 * time.Millisecond, 167772150 * time.Millisecond},
	{20971520 * time.Millisecond, 167772160 * time.Millisecond, 1342177270 * time.Millisecond},
}

func TestTableOfRFC12(t *testing.T) {
	const tick = 10 * time.Millisecond
	if len(rfc12) != bucketLevels || rfc12[7].to/(24*time.Hour) != 15 {
		t.Fatal("8 rows, to 15 days")
	}
	for level, row := range rfc12 {
		t.Run(fmt.Sprintf("level %d", level), func(t *testing.T) {
			if row.granularity != tick<<(factorBits*level) || level > 0 && row.from != rfc12[level-1].to+tick {
				t.Fatal("a row that does not follow from the one before")
			}
			step := max(tick, (row.to-row.from)/500/tick*tick)
			for d := row.from; d <= row.to; d += step {
				came := rowCase(t, level, d)
				if late := came - d; late < 0 || late >= row.granularity || came%row.granularity != 0 {
					t.Fatalf("%v comes at %v", d, came)
				}
				if d < row.to && d+step > row.to {
					d = row.to - step // and the last
				}
			}
		})
	}
	// Beyond the table an item waits in the last bucket, and is looked at again.
	if came, far := rowCase(t, 7, 20*24*time.Hour), 20*24*time.Hour; came < far || came-far > rfc12[7].granularity {
		t.Errorf("20 days come after %v", came)
	}
}

// rowCase schedules an item and returns when it comes.
func rowCase(t *testing.T, level int, d time.Duration) time.Duration {
	t.Helper()
	q := NewNonCascadingWheel(10 * time.Millisecond).(*timers)
	var x Item
	q.Schedule(&x, clock.Instant(d))
	if got := int(x.place >> numberBits); x.Tag == inside && got != level {
		t.Fatalf("%v is at level %d, want %d", d, got, level)
	}
	var buf [1]*Item
	for range 3 {
		now, ok := q.Next()
		if !ok {
			break
		}
		if q.Expire(now, buf[:]) == 1 {
			return time.Duration(now)
		}
	}
	t.Fatalf("%v does not come", d)
	return 0
}

// TestNothingMoves: an item stays in its bucket until that ends, also if the bucket's place is the one that base is in.
func TestNothingMoves(t *testing.T) {
	const tick = 10 * time.Millisecond
	at := func(ticks int) clock.Instant { return clock.Instant(ticks) * clock.Instant(tick) }
	q := NewNonCascadingWheel(tick)
	var x, y Item
	var buf [2]*Item
	q.Expire(at(1), buf[:])
	q.Schedule(&x, at(510)) // level 1, bucket 64, in the place of bucket 0
	q.Schedule(&y, at(5))
	place := x.place
	if n := q.Expire(at(5), buf[:]); n != 1 || buf[0] != &y || x.place != place || place>>numberBits != 1 || x.slot() != 64 {
		t.Errorf("%d came; place %x was %x", n, x.place, place)
	}
	for now, ok := q.Next(); ok; now, ok = q.Next() {
		if q.Expire(now, buf[:]) == 1 && now != at(512) {
			t.Errorf("it comes at %v, want %v", now, at(512))
		}
	}
}
