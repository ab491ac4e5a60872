package park_test

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/park"
)

// A crowd is a lot and those who park in it, in a bubble, one after the other.
type crowd struct {
	park.Lot
	t   *testing.T
	got []park.Outcome // of the i-th; Pending while it is parked
}

// inLot runs f in a bubble with an empty crowd, and fails if somebody is left in it.
func inLot(t *testing.T, f func(t *testing.T, c *crowd)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, &crowd{t: t}) })
}

// park lets n more park under key.
func (c *crowd) park(ctx context.Context, key any, n int) {
	for range n {
		c.until(ctx, key, clock.Forever)
	}
}

func (c *crowd) until(ctx context.Context, key any, deadline clock.Instant) {
	i := len(c.got)
	c.got = append(c.got, park.Pending)
	done := make(chan struct{})
	go func() {
		defer close(done)
		o := c.Park(ctx, key, deadline, park.KindUser, nil)
		c.got[i] = o
	}()
	synctest.Wait()
}

// left is how many are in key's line.
func (c *crowd) left(key any) (n int) {
	c.t.Helper()
	if woken := c.Wake(key, 0, park.Woken, func(woken, left int) { n = left - woken }); woken != 0 {
		c.t.Errorf("Wake of 0 has woken %d", woken)
	}
	return n
}

func (c *crowd) wake(key any, n int, o park.Outcome, wantWoken, wantLeft int) {
	c.t.Helper()
	calls := 0
	woken := c.Wake(key, n, o, func(woken, left int) {
		if calls++; woken != wantWoken || left != wantLeft {
			c.t.Errorf("Wake of %d for %v was told of %d woken and %d left, want %d and %d", n, key, woken, left,
				wantWoken, wantLeft)
		}
	})
	if woken != wantWoken || calls != 1 {
		c.t.Errorf("Wake of %d for %v: %d, want %d; called %d times", n, key, woken, wantWoken, calls)
	}
	synctest.Wait()
}

func (c *crowd) want(got ...park.Outcome) {
	c.t.Helper()
	if !slices.Equal(c.got, got) {
		c.t.Errorf("outcomes %v, want %v", c.got, got)
	}
}

// empty lets everybody go who is left for keys.
func (c *crowd) empty(keys ...any) {
	c.t.Helper()
	for _, k := range keys {
		if n := c.left(k); n != 0 {
			c.t.Errorf("%d are left for %v", n, k)
		}
		c.Wake(k, park.All, park.Closed, nil)
	}
	synctest.Wait()
}

const (
	no    = park.Pending
	woken = park.Woken
)

func TestBubbleLotWake(t *testing.T) {
	inLot(t, func(t *testing.T, c *crowd) {
		ctx := context.Background()
		c.wake("a", 1, woken, 0, 0)
		c.park(ctx, "a", 4)
		c.park(ctx, "b", 1)
		if n := c.left("a"); n != 4 {
			t.Errorf("%d are parked, want 4", n)
		}
		c.want(no, no, no, no, no)
		c.wake("a", 1, woken, 1, 3)
		c.want(woken, no, no, no, no)
		c.wake("a", 2, park.User+7, 2, 1)
		c.want(woken, park.User+7, park.User+7, no, no)
		c.wake("a", -1, woken, 0, 1)
		c.wake("a", 5, park.MaxOutcome, 1, 0)
		c.want(woken, park.User+7, park.User+7, park.MaxOutcome, no)
		c.wake("a", park.All, woken, 0, 0)
		c.park(ctx, "b", 2)
		if n := c.Wake("b", park.All, park.Closed, nil); n != 3 {
			t.Errorf("Wake of all has woken %d, want 3", n)
		}
		synctest.Wait()
		c.want(woken, park.User+7, park.User+7, park.MaxOutcome, park.Closed, park.Closed, park.Closed)
		c.empty("a", "b")
	})
}

// Keys are equal as values of interfaces are.
func TestBubbleLotKeys(t *testing.T) {
	type pair struct {
		s string
		n int
	}
	x, y := new(int), new(int)
	keys := []any{
		nil, 0, int64(0), uint8(0), 1, int64(1 << 40), -1, "", "0", "a", 0.5, true, x, y, &pair{}, &pair{}, pair{}, pair{"a", 1},
		pair{"a", 2}, [2]int{1, 2}, [2]int{2, 1}, any("b"), [1]any{"b"}, [1]any{1}, error(nilErr{}), make(chan int), struct{}{}, math.Inf(1),
	}
	inLot(t, func(t *testing.T, c *crowd) {
		for _, k := range keys {
			c.park(context.Background(), k, 1)
		}
		want := make([]park.Outcome, len(keys))
		for i := range keys {
			i = (i*5 + 3) % len(keys) // in some order
			c.wake(keys[i], park.All, woken, 1, 0)
			want[i] = woken
			c.want(want...)
		}
		c.park(context.Background(), 0.0, 1) // minus zero is equal
		c.wake(math.Copysign(0, -1), 1, woken, 1, 0)
		c.empty(keys...)
	})
}

type nilErr struct{}

func (nilErr) Error() string { return "" }

// A key that is not equal to itself finds nobody, but who waits for it can leave.
func TestBubbleLotNaN(t *testing.T) {
	inLot(t, func(t *testing.T, c *crowd) {
		for range 40 { // some of them in one bucket
			c.until(context.Background(), math.NaN(), clock.After(time.Second))
		}
		c.wake(math.NaN(), park.All, woken, 0, 0)
		time.Sleep(time.Second)
		synctest.Wait()
		for _, o := range c.got {
			if o != park.Expired {
				t.Fatalf("outcomes %v", c.got)
			}
		}
	})
}

func TestLotPanics(t *testing.T) {
	var l park.Lot
	const unhashable = "runtime error: hash of unhashable type []int"
	bg := context.Background()
	for _, c := range []struct {
		name, want string
		f          func()
	}{
		{"Park", unhashable, func() { l.Park(bg, []int{}, clock.Forever, 0, nil) }},
		{"Wake", unhashable, func() { l.Wake([]int{}, 1, park.Woken, nil) }},
		{"Requeue from", unhashable, func() { l.Requeue([]int{}, 1, 1, nil) }},
		{"Requeue to", unhashable, func() { l.Requeue(1, []int{}, 1, nil) }},
		{"Requeue", "bide/park: Requeue from a key to itself", func() { l.Requeue(1, 1, 1, nil) }},
		{"outcome 0", "bide/park: Wake with the outcome pending", func() { l.Wake(1, 1, park.Pending, nil) }},
		{"outcome", "bide/park: Wake with the outcome user+122", func() { l.Wake(1, 1, park.MaxOutcome+1, nil) }},
		{"validate", "mine", func() { l.Park(bg, 1, clock.Forever, 0, func() bool { panic("mine") }) }},
		{"locked", "mine", func() { l.Wake(1, 1, park.Woken, func(int, int) { panic("mine") }) }},
		{"validate of Requeue", "mine", func() { l.Requeue(1, 2, 1, func() bool { panic("mine") }) }},
	} {
		if got := panics(c.f); got != c.want {
			t.Errorf("%s: panic %q, want %q", c.name, got, c.want)
		}
		for _, k := range []any{1, 2} { // nothing is locked, and nobody filed
			l.Wake(k, 1, park.Woken, func(woken, left int) {
				if woken+left != 0 {
					t.Errorf("after %s: somebody is filed", c.name)
				}
			})
		}
	}
}

// Those who are resolved when locked panics are woken all the same.
func TestBubbleLotLockedPanics(t *testing.T) {
	inLot(t, func(t *testing.T, c *crowd) {
		c.park(context.Background(), "a", 3)
		if got := panics(func() { c.Wake("a", 2, woken, func(int, int) { panic("mine") }) }); got != "mine" {
			t.Errorf("panic %q", got)
		}
		synctest.Wait()
		c.want(woken, woken, no)
		c.wake("a", 1, woken, 1, 0)
	})
}

func TestLotValidate(t *testing.T) {
	var l park.Lot
	calls := 0
	o := l.Park(context.Background(), 1, clock.Forever, 0, func() bool { calls++; return false })
	if o != park.Self || calls != 1 {
		t.Errorf("Park that validate stops: %v; called %d times", o, calls)
	}
	if l.Wake(1, 1, park.Woken, nil) != 0 {
		t.Error("somebody was filed")
	}
	// It says so also if the deadline has passed or ctx is canceled: nothing was waited for.
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for range 100 {
		if o := l.Park(ctx, 1, 1, 0, func() bool { return false }); o != park.Self {
			t.Errorf("Park that validate stops, canceled: %v", o)
		}
	}
}

// The functions of one key run one at a time, one step with what the lot does; a Wake that begins while validate runs
// finds who is filed by it.
func TestLotFunctionsAreLocked(t *testing.T) {
	var l park.Lot
	var group sync.WaitGroup
	begun := make(chan struct{})
	var over atomic.Bool
	group.Go(func() {
		l.Park(context.Background(), "a", clock.Forever, 0, func() bool {
			close(begun)
			for range 1000 {
				runtime.Gosched()
			}
			over.Store(true)
			return true
		})
	})
	<-begun
	n := l.Wake("a", 1, park.Woken, func(woken, left int) {
		if !over.Load() || woken != 1 {
			t.Errorf("Wake's function ran beside validate, or missed who was filed: %d", woken)
		}
	})
	if n != 1 {
		t.Errorf("woken %d", n)
	}
	group.Wait()

	begun, over = make(chan struct{}), atomic.Bool{}
	group.Go(func() {
		l.Requeue("b", "c", 1, func() bool {
			close(begun)
			for range 1000 {
				runtime.Gosched()
			}
			over.Store(true)
			return true
		})
	})
	<-begun
	for _, k := range []string{"b", "c"} {
		l.Wake(k, 1, park.Woken, func(int, int) {
			if !over.Load() {
				t.Errorf("the function of %s ran beside Requeue's", k)
			}
		})
	}
	group.Wait()
}

// Nobody runs before locked has returned.
func TestBubbleLotLockedIsFirst(t *testing.T) {
	inLot(t, func(t *testing.T, c *crowd) {
		c.park(context.Background(), "a", 40)
		c.Wake("a", park.All, woken, func(n, left int) {
			for range 100 {
				runtime.Gosched()
			}
			if n != 40 || left != 0 || slices.Contains(c.got, woken) {
				t.Errorf("%d woken, %d left: %v", n, left, c.got)
			}
		})
		synctest.Wait()
		if slices.Contains(c.got, no) {
			t.Errorf("somebody sleeps: %v", c.got)
		}
	})
}

// Who is canceled leaves nothing, and the others as they were.
func TestBubbleLotCanceled(t *testing.T) {
	for _, x := range endings {
		t.Run(x.name, func(t *testing.T) {
			inLot(t, func(t *testing.T, c *crowd) {
				ctx, end := x.make(t)
				bg := context.Background()
				c.park(ctx, "a", 1)
				c.park(bg, "a", 1)
				c.park(ctx, "a", 2)
				c.park(bg, "a", 1)
				c.park(ctx, "a", 1)
				c.park(ctx, "b", 1)
				end()
				synctest.Wait()
				const ended = park.Canceled
				c.want(ended, no, ended, ended, no, ended, ended)
				if a, b := c.left("a"), c.left("b"); a != 2 || b != 0 {
					t.Errorf("%d and %d are left, want 2 and 0", a, b)
				}
				c.park(ctx, "a", 1) // under a canceled one nobody waits
				c.wake("a", 1, woken, 1, 1)
				c.wake("a", 1, woken, 1, 0)
				c.want(ended, woken, ended, ended, woken, ended, ended, ended)
				c.empty("a", "b")
			})
		})
	}
}

func TestBubbleLotExpired(t *testing.T) {
	inLot(t, func(t *testing.T, c *crowd) {
		s := bide.Open(context.Background())
		defer s.Close(nil)
		begin := time.Now()
		c.until(s, "a", clock.After(2*time.Second))
		c.until(s, "a", clock.After(time.Second))
		c.until(s, "a", clock.Forever)
		c.until(s, "a", clock.After(-1))
		synctest.Wait()
		c.want(no, no, no, park.Expired)
		time.Sleep(time.Second)
		synctest.Wait()
		c.want(no, park.Expired, no, park.Expired)
		c.wake("a", 1, woken, 1, 1) // it was in time
		time.Sleep(time.Hour)
		c.want(woken, park.Expired, no, park.Expired)
		c.wake("a", 2, woken, 1, 0)
		if d := time.Since(begin); d != time.Hour+time.Second {
			t.Errorf("took %v", d)
		}
		c.empty("a")
	})
}

// A wake-up that meets somebody who was canceled a moment ago, and is still filed, goes on to the next. The count is of
// who is filed.
func TestBubbleLotMeetsCanceled(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4} {
		inLot(t, func(t *testing.T, c *crowd) {
			h, ctx := newFake(context.Background())
			bg := context.Background()
			c.park(ctx, "a", 1)
			c.park(bg, "a", 1)
			c.park(ctx, "a", 1)
			c.park(bg, "a", 1)
			var buf [8]*park.Waiter
			canceled := h.waiters.Cancel(buf[:]) // resolved, and not awake yet
			synctest.Wait()
			if left := c.left("a"); canceled != 2 || left != 4 {
				t.Fatalf("%d canceled, %d filed", canceled, left)
			}
			wantWoken, wantLeft := min(n, 2), 2
			if n > 1 {
				wantLeft = 0
			}
			c.wake("a", n, woken, wantWoken, wantLeft)
			for _, w := range buf[:canceled] {
				w.Unpark()
			}
			synctest.Wait()
			want := []park.Outcome{park.Canceled, woken, park.Canceled, no}
			if n > 1 {
				want[3] = woken
			}
			c.want(want...)
			c.wake("a", 1, woken, 2-wantWoken, 0)
			c.empty("a")
		})
	}
}

func TestBubbleLotRequeue(t *testing.T) {
	keys := make([]any, 100) // some are in one bucket, some in two, in either order
	for i := range keys {
		keys[i] = i * 1000
	}
	for i, to := range keys[1:] {
		inLot(t, func(t *testing.T, c *crowd) {
			ctx, cancel := context.WithCancel(context.Background())
			from, bg := keys[i], context.Background()
			if n := c.Requeue(from, to, park.All, nil); n != 0 {
				t.Errorf("moved %d of nobody", n)
			}
			c.park(bg, to, 1)
			c.park(bg, from, 1)
			c.park(ctx, from, 1)
			c.park(bg, from, 2)
			asked := 0
			if n := c.Requeue(from, to, 5, func() bool { asked++; return false }); n != 0 || asked != 1 {
				t.Errorf("refused: moved %d, asked %d times", n, asked)
			}
			if n := c.Requeue(from, to, 0, nil) + c.Requeue(from, to, -1, nil); n != 0 {
				t.Errorf("moved %d", n)
			}
			if a, b := c.left(from), c.left(to); a != 4 || b != 1 {
				t.Errorf("%d and %d are left", a, b)
			}
			if n := c.Requeue(from, to, 3, func() bool { asked++; return true }); n != 3 || asked != 2 {
				t.Errorf("moved %d, asked %d times", n, asked)
			}
			if a, b := c.left(from), c.left(to); a != 1 || b != 4 {
				t.Errorf("%d and %d are left", a, b)
			}
			synctest.Wait()
			c.want(no, no, no, no, no)
			cancel() // out of where it is now
			synctest.Wait()
			c.want(no, no, park.Canceled, no, no)
			c.park(bg, to, 1) // behind them
			c.wake(from, park.All, woken, 1, 0)
			c.want(no, no, park.Canceled, no, woken, no)
			c.wake(to, 1, woken, 1, 3)
			c.want(woken, no, park.Canceled, no, woken, no)
			c.wake(to, 1, woken, 1, 2)
			c.want(woken, woken, park.Canceled, no, woken, no)
			c.wake(to, 1, woken, 1, 1)
			c.want(woken, woken, park.Canceled, woken, woken, no)
			c.wake(to, 1, woken, 1, 0)
			c.empty(from, to)
		})
	}
}

// Requeue moves who waits, and not who has been canceled; and there and back.
func TestBubbleLotRequeueMeetsCanceled(t *testing.T) {
	inLot(t, func(t *testing.T, c *crowd) {
		h, ctx := newFake(context.Background())
		bg := context.Background()
		c.park(ctx, "a", 2)
		c.park(bg, "a", 2)
		var buf [8]*park.Waiter
		canceled := h.waiters.Cancel(buf[:])
		if n := c.Requeue("a", "b", 1, nil); n != 1 || c.left("a") != 1 || c.left("b") != 1 {
			t.Errorf("moved %d; %d and %d are left", n, c.left("a"), c.left("b"))
		}
		if n := c.Requeue("a", "b", park.All, nil); n != 1 {
			t.Errorf("moved %d", n)
		}
		if n := c.Requeue("b", "a", park.All, nil); n != 2 {
			t.Errorf("moved back %d", n)
		}
		for _, w := range buf[:canceled] {
			w.Unpark()
		}
		synctest.Wait()
		c.want(park.Canceled, park.Canceled, no, no)
		c.wake("a", 2, woken, 2, 0)
		c.empty("a", "b")
	})
}

// What is filed in the host is the wait's kind, and nothing after it.
func TestBubbleLotHost(t *testing.T) {
	inLot(t, func(t *testing.T, c *crowd) {
		h, ctx := newFake(context.Background())
		c.park(ctx, "a", 1)
		c.wake("a", 1, woken, 1, 0)
		h.called(t, "attach kind+64", "detach")
		h.refuse = true
		c.park(ctx, "a", 1)
		c.want(woken, park.Canceled)
		c.empty("a")
	})
}

// A panic takes its waiter out, and what that was given goes to the next, wherever both have been moved.
func TestBubbleLotContextPanics(t *testing.T) {
	for _, in := range []string{"Value", "Done"} {
		for _, exit := range []bool{false, true} {
			for _, x := range []struct {
				name       string
				first      func(c *crowd)
				got, after park.Outcome // of the other
			}{
				{"nothing", func(c *crowd) {}, no, park.User},
				{"woken", func(c *crowd) { c.Wake("a", 1, park.User+1, nil) }, park.User + 1, park.User + 1},
				{"moved", func(c *crowd) { c.Requeue("a", "b", park.All, nil) }, no, park.Closed},
				{"moved and woken", func(c *crowd) {
					c.Requeue("a", "b", park.All, nil)
					c.Wake("b", 1, park.User+1, nil)
				}, park.User + 1, park.User + 1},
			} {
				t.Run(fmt.Sprint(in, "/", exit, "/", x.name), func(t *testing.T) {
					inLot(t, func(t *testing.T, c *crowd) {
						std, cancel := context.WithCancel(context.Background())
						defer cancel()
						over := make(chan string)
						b := &brittle{std, in, nil, exit}
						b.first = func() { // it is filed: first
							c.park(context.Background(), "a", 1)
							x.first(c)
						}
						go func() {
							defer close(over)
							over <- panics(func() { c.Park(b, "a", clock.Forever, 0, nil) })
						}()
						if got := <-over; exit != (got != "brittle") {
							t.Errorf("panic %q", got)
						}
						synctest.Wait()
						c.want(x.got)
						c.Wake("a", park.All, park.User, nil)
						c.Wake("b", park.All, park.Closed, nil)
						synctest.Wait()
						c.want(x.after)
						c.empty("a", "b")
					})
				})
			}
		}
	}
}

// A wait in a bubble is durable, whatever was used outside before; and outside again.
func TestBubbleLotPools(t *testing.T) {
	var outside park.Lot
	use := func() {
		for range 64 {
			var group sync.WaitGroup
			filed := make(chan bool, 1)
			group.Go(func() {
				outside.Park(context.Background(), t, clock.Forever, 0, func() bool { filed <- true; return true })
			})
			<-filed
			outside.Wake(t, 1, park.Woken, nil)
			group.Wait()
		}
	}
	use()
	inLot(t, func(t *testing.T, c *crowd) {
		c.park(context.Background(), "a", 3)
		time.Sleep(time.Hour)
		c.wake("a", park.All, woken, 3, 0)
		c.want(woken, woken, woken)
	})
	use()
}
