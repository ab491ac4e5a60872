package timer_test

import (
	"reflect"
	"testing"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// Crystal 13519: the struct of a timeout was copied, so canceling the copy took nothing out, and timeouts piled up.
// Canceling has to take out what was scheduled, at once; and go vet has to see a copy.
func TestReportCrystal13519(t *testing.T) {
	v := clock.NewVirtual()
	s := timer.For(v)
	const n = 1000
	var timers [n]*timer.Timer
	for range 3 {
		for i := range timers {
			timers[i] = timer.AfterFunc(time.Duration(i+1)*time.Second, func() { t.Error("a stopped timer came") }, timer.On(v))
		}
		if got := s.Stats().Pending; got != n {
			t.Fatalf("%d pending, want %d", got, n)
		}
		for i, tm := range timers {
			if !tm.Stop() {
				t.Fatalf("timer %d was not there", i)
			}
			if got := s.Stats().Pending; got != n-1-i {
				t.Fatalf("%d pending after %d stops", got, i+1)
			}
		}
		if _, ok := s.Next(); ok {
			t.Fatal("something is left")
		}
	}
	v.Advance(time.Hour)
}

// TestReportCrystal13519Copies: vet's copylocks looks for a Lock method with a pointer receiver.
func TestReportCrystal13519Copies(t *testing.T) {
	for _, typ := range []reflect.Type{reflect.TypeFor[timer.Timer](), reflect.TypeFor[timer.Entry]()} {
		field := typ.Field(0)
		_, lock := reflect.PointerTo(field.Type).MethodByName("Lock")
		_, unlock := reflect.PointerTo(field.Type).MethodByName("Unlock")
		if field.Type.Size() != 0 || !lock || !unlock {
			t.Errorf("a copy of %v goes unnoticed: its first field is %v", typ, field.Type)
		}
	}
}
