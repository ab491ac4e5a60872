package timer_test

import (
	"errors"
	"fmt"
	"os"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// A service of one's own may bound what others can make pending in it.
func ExampleService_TrySchedule() {
	c := clock.NewVirtual()
	s := timer.NewService(c, timer.Cap(2))
	for _, name := range []string{"a", "b", "c"} {
		x := &peer{name: name}
		x.entry.Init(x)
		x.heard(c.Now())
		_, err := s.TrySchedule(&x.entry, c.Now().Add(patience))
		var full *timer.FullError
		if errors.As(err, &full) {
			fmt.Println("refused", name, "above", full.Cap)
		}
	}
	c.Advance(time.Minute)
	// Output:
	// refused c above 2
	// a timed out at 30s
	// b timed out at 30s
}

// Close takes out what is pending and waits for what runs.
func ExampleService_Close() {
	c := clock.NewVirtual()
	s := timer.NewService(c)
	open(s, "a")
	fmt.Println("closed:", s.Close())
	c.Advance(time.Hour) // nothing comes
	fmt.Println("pending:", s.Stats().Pending)
	// Output:
	// closed: true
	// pending: 0
}

// Stats say what a service has done, and how late it was.
func ExampleService_Stats() {
	c := clock.NewVirtual()
	s := timer.NewService(c)
	open(s, "a")
	open(s, "b")
	s.Expire(clock.Instant(patience + 3*time.Millisecond)) // a driver of our own that comes late
	st := s.Stats()
	fmt.Println(st.Fired, "fired, the worst", st.Worst, "late, half of them within", st.Late.Quantile(0.5))
	// Output:
	// a timed out at 30.003s
	// b timed out at 30.003s
	// 2 fired, the worst 3ms late, half of them within 4.096ms
}

// Dump is for a person who wonders what is pending.
func ExampleService_Dump() {
	s := timer.NewService(clock.NewVirtual())
	open(s, "a")
	open(s, "b")
	s.Dump(os.Stdout)
	// Output: virtual shard 1: 2 pending, next look in 30s
}
