package bide_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/bidetest"
	"bide.invalid/bide/clock"
)

// What looks cost by their number: a scope with a deadline that is entered, looked at, and left. The first reads the
// clock, the second links the scope and files the deadline, the others are a load. Design note 0013 has the figures.
func BenchmarkLook(b *testing.B) {
	bg := context.Background()
	std, cancel := context.WithCancel(bg)
	defer cancel()
	live := bide.Open(bg)
	defer live.Close(nil)
	live.Done()
	for _, below := range []struct {
		name string
		ctx  context.Context
	}{{"Background", bg}, {"a scope", live}, {"a standard context", std}} {
		for _, looks := range []int{0, 1, 2, 3, 100} {
			b.Run(fmt.Sprintf("below %s/looks=%d", below.name, looks), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					_ = bide.FailAfter(below.ctx, time.Hour, func(ctx context.Context) error {
						for range looks {
							_ = ctx.Err()
						}
						return nil
					})
				}
			})
		}
	}
	b.Run("shield/looks=1", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = bide.Shield(live, time.Hour, bide.Check)
		}
	})
	b.Run("Open and Close/looks=1", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s := bide.Open(live, bide.Timeout(time.Hour))
			_ = s.Err()
			s.Close(nil)
		}
	})
}

// When a passed deadline is seen: by the first two looks to the nanosecond, by later ones when the timer has run.
func TestLookSees(t *testing.T) {
	for looks := range 4 {
		bidetest.Bubble(t, func(t *testing.T, _ context.Context) {
			c := &slow{Virtual: clock.NewVirtual()}
			s := bide.Open(context.Background(), bide.Clock(c), bide.Timeout(time.Minute))
			defer s.Close(nil)
			for range looks {
				if s.Err() != nil {
					t.Error("early")
				}
			}
			c.ahead.Store(int64(time.Minute)) // the clock is there, its alarms are not
			seen := s.Err() != nil
			if want := looks < 2; seen != want {
				t.Errorf("after %d looks a deadline that has just passed is seen: %v, want %v", looks, seen, want)
			}
			c.Advance(time.Minute)
			if s.Err() == nil {
				t.Errorf("after %d looks, and the timer: not seen", looks)
			}
		})
	}
}
