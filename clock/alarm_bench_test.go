package clock_test

import (
	"slices"
	"testing"
	"time"

	"bide.invalid/bide/clock"
)

func benchKinds(b *testing.B, body func(b *testing.B, k kind)) {
	for _, k := range kinds() {
		b.Run(k.name, func(b *testing.B) { body(b, k) })
	}
}

// BenchmarkAlarmRealTime: how late a goroutine is woken that has set an alarm for in 100 µs and waits.
func BenchmarkAlarmRealTime(b *testing.B) {
	benchKinds(b, func(b *testing.B, k kind) {
		came := make(chan struct{})
		a := k.alarm(func(clock.Instant) { came <- struct{}{} })
		var late []time.Duration
		for b.Loop() {
			at := k.in(100 * time.Microsecond)
			a.Set(at)
			<-came
			late = append(late, k.clock.Now().Sub(at))
		}
		slices.Sort(late)
		b.ReportMetric(float64(late[len(late)/2])/1e3, "p50-late-µs")
		b.ReportMetric(float64(late[len(late)*99/100])/1e3, "p99-late-µs")
	})
}

// BenchmarkAlarmMoveRealTime: Set of an alarm that is set.
func BenchmarkAlarmMoveRealTime(b *testing.B) {
	benchKinds(b, func(b *testing.B, k kind) {
		a := k.alarm(func(clock.Instant) {})
		at := k.in(time.Hour)
		a.Set(at)
		b.ReportAllocs()
		for b.Loop() {
			at++
			a.Set(at)
		}
		a.Clear()
	})
}

// BenchmarkAlarmClearRealTime: Set and Clear.
func BenchmarkAlarmClearRealTime(b *testing.B) {
	benchKinds(b, func(b *testing.B, k kind) {
		a := k.alarm(func(clock.Instant) {})
		at := k.in(time.Hour)
		b.ReportAllocs()
		for b.Loop() {
			a.Set(at)
			a.Clear()
		}
	})
}

// BenchmarkNowRealTime: a reading.
func BenchmarkNowRealTime(b *testing.B) {
	benchKinds(b, func(b *testing.B, k kind) {
		for b.Loop() {
			k.clock.Now()
		}
	})
}
