package bidetest_test

import (
	"context"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/bidetest"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/syncs"
	"bide.invalid/bide/timer"
)

func TestNoLeaks(t *testing.T) {
	everywhere(t, func(t *testing.T) {
		c := clock.NewVirtual()
		text := new(fake).run(func(t bidetest.TB) {
			ctx, _ := bidetest.Virtual(t)
			before := bide.Open(ctx) // this was there, and is still at the end, as is what comes next
			t.Cleanup(func() { before.Close(nil) })
			var old syncs.Event
			go stay(&old)
			t.Cleanup(old.Set)
			for !strings.Contains(dump(), "bidetest_test.stay(") {
				runtime.Gosched()
			}
			bidetest.NoLeaks(t, c)
			bide.WithNursery(context.Background(), func(ctx context.Context, n *bide.Nursery) error {
				for range 10 {
					n.Go(func(ctx context.Context) error { return bide.Sleep(ctx, time.Millisecond) }, bide.Timeout(time.Hour))
				}
				n.TryGo(func(ctx context.Context) error { return nil }, bide.Name("refused"))
				return nil
			}, bide.Limit(10))
			bide.Open(context.Background(), bide.Timeout(time.Hour)).Close(nil)
			timer.AfterFunc(time.Hour, func() {}, timer.On(c)).Stop()
			timer.AfterFunc(time.Hour, func() {}).Stop()
			bidetest.Virtual(t)
			bidetest.NoLeaks(t) // looks while the scope of Virtual is open
		})
		complains(t, text)
	})
}

func TestNoLeaksScope(t *testing.T) {
	defer bidetest.Impatient(time.Millisecond)()
	everywhere(t, func(t *testing.T) {
		var s *bide.Scope
		text := new(fake).run(func(t bidetest.TB) {
			bidetest.NoLeaks(t)
			s = closeLate(context.Background())
		})
		complains(t, text, "left at the end", "bide.Scope forgotten (active), opened by bidetest_test.closeLate at ")
		s.Close(nil)
	})
}

// stay waits until it is let go.
func stay(e *syncs.Event) { e.Wait(context.Background()) }

func dump() string {
	buf := make([]byte, 1<<20)
	return string(buf[:runtime.Stack(buf, true)])
}

func TestNoLeaksGoroutine(t *testing.T) {
	defer bidetest.Impatient(time.Millisecond)()
	everywhere(t, func(t *testing.T) {
		var e syncs.Event
		text := new(fake).run(func(t bidetest.TB) {
			bidetest.NoLeaks(t)
			go stay(&e)
			for !strings.Contains(dump(), "syncs.(*Event).Wait(") {
				runtime.Gosched()
			}
		})
		complains(t, text, "bidetest_test.stay(", "syncs.(*Event).Wait(", "noleaks_test.go:")
		e.Set()
	})
}

var received = regexp.MustCompile(`\[chan receive.*\]:\n.*TestNoLeaksBlocking`)

// What Blocking has left behind is in a function of the module, though it is in nobody's wait.
func TestNoLeaksBlocking(t *testing.T) {
	defer bidetest.Impatient(time.Millisecond)()
	everywhere(t, func(t *testing.T) {
		leave := make(chan struct{})
		text := new(fake).run(func(t bidetest.TB) {
			bidetest.NoLeaks(t)
			ctx, cancel := context.WithCancel(context.Background())
			bide.Blocking(ctx, func(context.Context) (int, error) { cancel(); <-leave; return 0, nil }, bide.Abandon())
			for !received.MatchString(dump()) {
				runtime.Gosched()
			}
		})
		complains(t, text, "TestNoLeaksBlocking", "chan receive", ".leave[")
		close(leave)
	})
}

// A goroutine that has nothing to do with this module counts in a bubble only.
func TestNoLeaksStranger(t *testing.T) {
	defer bidetest.Impatient(time.Millisecond)()
	everywhere(t, func(t *testing.T) {
		leave := make(chan struct{})
		text := new(fake).run(func(t bidetest.TB) {
			bidetest.NoLeaks(t)
			go func() { <-leave }()
		})
		if clock.InBubble() {
			complains(t, text, "TestNoLeaksStranger", "chan receive")
		} else {
			complains(t, text)
		}
		close(leave)
	})
}

func TestNoLeaksTimers(t *testing.T) {
	defer bidetest.Impatient(time.Millisecond)()
	c := clock.NewVirtual()
	for name, opts := range map[string][]timer.Option{
		"1 pending on the virtual clock": {timer.On(c)},
		"pending on the monotonic clock": nil,
		"monotonic clock, deadlines":     {timer.Tolerance(0)},
	} {
		var tm *timer.Timer
		text := new(fake).run(func(t bidetest.TB) {
			bidetest.NoLeaks(t, c)
			tm = timer.AfterFunc(time.Hour, func() {}, opts...)
		})
		complains(t, text, name)
		tm.Stop()
	}
	synctest.Test(t, func(t *testing.T) { // the bubble's own time
		text := new(fake).run(func(t bidetest.TB) {
			bidetest.NoLeaks(t, c)
			timer.AfterFunc(time.Hour, func() {})
			timer.AfterFunc(time.Hour, func() {}, timer.On(c))
		})
		complains(t, text, "1 pending on the virtual clock")
		if strings.Contains(text, "monotonic") {
			t.Error(text)
		}
	})
}

// Two bubbles at the same time: what is left in the one is not the other's.
func TestNoLeaksBubblesApart(t *testing.T) {
	begun, left, looked := make(chan struct{}), make(chan struct{}), make(chan struct{})
	var a, b string
	var both sync.WaitGroup
	both.Go(func() {
		synctest.Test(new(testing.T), func(*testing.T) {
			var e syncs.Event
			<-begun
			a = new(fake).run(func(t bidetest.TB) {
				bidetest.NoLeaks(t)
				closeLate(context.Background())
				parkedNow(func() { stay(&e) })
			})
			close(left)
			<-looked
			e.Set()
		})
	})
	both.Go(func() {
		synctest.Test(new(testing.T), func(*testing.T) {
			b = new(fake).run(func(t bidetest.TB) {
				bidetest.NoLeaks(t)
				close(begun)
				<-left
			})
			close(looked)
		})
	})
	both.Wait()
	complains(t, a, "forgotten", "bidetest_test.stay(")
	complains(t, b)
}

// Other tests are not to blame, where all that is seen is the process.
func TestNoLeaksOtherTests(t *testing.T) {
	var e syncs.Event
	done := make(chan struct{})
	text := new(fake).run(func(bt bidetest.TB) {
		bidetest.NoLeaks(bt)
		go func() {
			defer close(done)
			t.Run("other", func(*testing.T) { stay(&e) })
		}()
		for !strings.Contains(dump(), "bidetest_test.stay(") {
			runtime.Gosched()
		}
	})
	e.Set()
	<-done
	complains(t, text)
}

// Outside of a bubble those who are about to end are waited for.
func TestNoLeaksWaitsRealTime(t *testing.T) {
	var e syncs.Event
	var tm *timer.Timer
	complains(t, new(fake).run(func(t bidetest.TB) {
		bidetest.NoLeaks(t)
		go stay(&e)
		tm = timer.AfterFunc(20*time.Millisecond, e.Set)
		s := bide.Open(context.Background())
		go func() {
			e.Wait(s)
			s.Close(nil)
		}()
	}))
	tm.StopWait()
}

// Long lists are cut.
func TestNoLeaksMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		text := new(fake).run(func(t bidetest.TB) {
			ctx, _ := bidetest.Virtual(t)
			for range 25 {
				bide.Open(ctx)
			}
		})
		complains(t, text, "and 5 more")
		if n := strings.Count(text, "bide.Scope"); n != 20 {
			t.Errorf("%d are listed", n)
		}
	})
}

func TestModule(t *testing.T) {
	if bidetest.Module+"/bidetest_test" != reflect.TypeFor[fake]().PkgPath() {
		t.Errorf("module %q", bidetest.Module)
	}
}
