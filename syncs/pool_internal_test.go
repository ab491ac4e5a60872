package syncs

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/park"
)

// Queued reports whether somebody waits in Get, canceled or not.
func (p *Pool[T]) Queued() bool { return p.Stats().Waiting > 0 }

// A poolBench is a pool that is taken through its transitions one by one: its New and Destroy return when they are told.
type poolBench struct {
	t     *testing.T
	p     *Pool[int]
	taken marks
	made  chan any // what New returns next: an item or an error
	gone  chan struct{}
}

func newPoolBench(t *testing.T, taken marks, max int) *poolBench {
	b := &poolBench{t: t, taken: taken, made: make(chan any), gone: make(chan struct{})}
	b.p = &Pool[int]{
		New: func(context.Context) (int, error) {
			switch v := (<-b.made).(type) {
			case error:
				return -1, v
			default:
				return v.(int), nil
			}
		},
		Destroy: func(int) { <-b.gone },
		Max:     max,
		Idle:    time.Hour,
	}
	return b
}

func (b *poolBench) state() string {
	synctest.Wait()
	p := b.p
	p.mu.Lock()
	defer p.mu.Unlock()
	p.check()
	s := fmt.Sprintf("idle %d lent %d made %d doomed %d", p.idle.n, p.stats.Lent, p.stats.Making,
		p.total-p.idle.n-p.stats.Lent-p.stats.Making)
	if p.trying.n > 0 {
		s += fmt.Sprintf(" trying %d", p.trying.n)
	}
	if p.waiting.n > 0 {
		s += fmt.Sprintf(" waiting %d", p.waiting.n)
	}
	return s
}

// step runs op, on a goroutine since it may wait, and records the transitions if the pool came to the state.
func (b *poolBench) step(names, want string, op func()) {
	b.t.Helper()
	go op()
	if got := b.state(); got != want {
		b.t.Fatalf("%s: %s, want %s", names, got, want)
	}
	b.taken.take(names)
}

// A borrower is a call of Get, and what became of it.
type borrower struct {
	b      *poolBench
	ctx    context.Context
	cancel context.CancelFunc
	v      int
	err    error
	ended  bool
}

func (b *poolBench) borrower() *borrower {
	r := &borrower{b: b}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r
}

func (r *borrower) get() {
	r.v, r.err = r.b.p.Get(r.ctx)
	r.ended = true
}

func (r *borrower) want(v int, err error) {
	r.b.t.Helper()
	if !r.ended || r.v != v || r.err != err {
		r.b.t.Fatalf("ended %v with %d, %v, want %d, %v", r.ended, r.v, r.err, v, err)
	}
	r.cancel()
}

func TestBubblePoolTransitions(t *testing.T) {
	taken := marks{}
	errNo := errors.New("no")
	synctest.Test(t, func(t *testing.T) {
		b := newPoolBench(t, taken, 2)
		p := b.p
		makes := func(v any) func() { return func() { b.made <- v } }
		dies := func() { b.gone <- struct{}{} }

		// Made for one who waits; made for one who has left; lent again.
		r1, r2 := b.borrower(), b.borrower()
		b.step("P2", "idle 0 lent 0 made 1 doomed 0 trying 1", r1.get)
		b.step("P3", "idle 0 lent 1 made 0 doomed 0", makes(1))
		r1.want(1, nil)
		b.step("P2", "idle 0 lent 1 made 1 doomed 0 trying 1", r2.get)
		b.step("", "idle 0 lent 1 made 1 doomed 0", r2.cancel)
		r2.want(0, context.Canceled)
		b.step("P4", "idle 1 lent 1 made 0 doomed 0", makes(2))
		r3 := b.borrower()
		b.step("P1", "idle 0 lent 2 made 0 doomed 0", r3.get)
		r3.want(2, nil)
		b.step("P7", "idle 1 lent 1 made 0 doomed 0", func() { p.Put(1) })
		b.step("P7", "idle 2 lent 0 made 0 doomed 0", func() { p.Put(2) })
		b.step("P1", "idle 1 lent 1 made 0 doomed 0", func() { p.TryGet() })
		b.step("P1", "idle 0 lent 2 made 0 doomed 0", func() { p.TryGet() })

		// All are lent: the next ones wait, until one is put back, or is broken, and destroyed.
		r4, r5, r6 := b.borrower(), b.borrower(), b.borrower()
		b.step("", "idle 0 lent 2 made 0 doomed 0 waiting 1", r4.get)
		b.step("", "idle 0 lent 2 made 0 doomed 0 waiting 2", r5.get)
		b.step("", "idle 0 lent 2 made 0 doomed 0 waiting 3", r6.get)
		b.step("P6", "idle 0 lent 2 made 0 doomed 0 waiting 2", func() { p.Put(1) })
		r4.want(1, nil)
		b.step("P8", "idle 0 lent 1 made 0 doomed 1 waiting 2", func() { p.Drop(1) })
		b.step("P11 P2", "idle 0 lent 1 made 1 doomed 0 trying 1 waiting 1", dies)

		// New fails: the one it was for gets the error, the next one tries.
		b.step("P5 P2", "idle 0 lent 1 made 1 doomed 0 trying 1", makes(errNo))
		r5.want(0, errNo)

		// Who tries is served by a Put; the item that was made for him goes to the next one, who waits.
		r7 := b.borrower()
		b.step("", "idle 0 lent 1 made 1 doomed 0 trying 1 waiting 1", r7.get)
		b.step("P6", "idle 0 lent 1 made 1 doomed 0 waiting 1", func() { p.Put(2) })
		r6.want(2, nil)
		b.step("P3", "idle 0 lent 2 made 0 doomed 0", makes(3))
		r7.want(3, nil)

		// The same, and New fails: nobody is told, and the next one tries.
		r8, r9 := b.borrower(), b.borrower()
		b.step("P8", "idle 0 lent 1 made 0 doomed 1", func() { p.Drop(3) })
		b.step("P11", "idle 0 lent 1 made 0 doomed 0", dies)
		b.step("P2", "idle 0 lent 1 made 1 doomed 0 trying 1", r8.get)
		b.step("", "idle 0 lent 1 made 1 doomed 0 trying 1 waiting 1", r9.get)
		b.step("", "idle 0 lent 1 made 1 doomed 0 waiting 1", r8.cancel)
		r8.want(0, context.Canceled)
		b.step("P5 P2", "idle 0 lent 1 made 1 doomed 0 trying 1", makes(errNo))
		b.step("P3", "idle 0 lent 2 made 0 doomed 0", makes(4))
		r9.want(4, nil)

		// Too old.
		b.step("P7", "idle 1 lent 1 made 0 doomed 0", func() { p.Put(2) })
		time.Sleep(time.Hour)
		b.step("P10", "idle 0 lent 1 made 0 doomed 1", func() {})
		b.step("P11", "idle 0 lent 1 made 0 doomed 0", dies)

		// Closed with an item idle, one lent and nobody there; then with one made, and one who waits for it.
		b.step("P7", "idle 1 lent 0 made 0 doomed 0", func() { p.Put(4) })
		b.step("", "idle 0 lent 1 made 0 doomed 0", func() { p.TryGet() })
		r10 := b.borrower()
		b.step("P2", "idle 0 lent 1 made 1 doomed 0 trying 1", r10.get)
		b.step("P3", "idle 0 lent 2 made 0 doomed 0", makes(5))
		r10.want(5, nil)
		b.step("P7", "idle 1 lent 1 made 0 doomed 0", func() { p.Put(5) })
		b.step("P10", "idle 0 lent 1 made 0 doomed 1", p.Close)
		b.step("P8", "idle 0 lent 0 made 0 doomed 2", func() { p.Put(4) })
		b.step("P11", "idle 0 lent 0 made 0 doomed 1", dies)
		if p.gone.IsSet() {
			t.Error("gone, though one is left")
		}
		b.step("P11", "idle 0 lent 0 made 0 doomed 0", dies)
		if !p.gone.IsSet() {
			t.Error("not gone")
		}

		b = newPoolBench(t, taken, 1)
		p = b.p
		r1, r2 = b.borrower(), b.borrower()
		b.step("P2", "idle 0 lent 0 made 1 doomed 0 trying 1", r1.get)
		b.step("", "idle 0 lent 0 made 1 doomed 0 trying 1 waiting 1", r2.get)
		b.step("", "idle 0 lent 0 made 1 doomed 0", p.Close)
		r1.want(0, ErrClosed)
		r2.want(0, ErrClosed)
		b.step("P9", "idle 0 lent 0 made 0 doomed 1", makes(1))
		b.step("P11", "idle 0 lent 0 made 0 doomed 0", dies)
		if !p.gone.IsSet() {
			t.Error("not gone")
		}
	})
	taken.demand(t, "pool.go", "P")
}

// A context that panics while an item is on its way: the item goes to the next, or is idle, or is destroyed if the pool
// is closed.
func TestPoolPanicWithAnItem(t *testing.T) {
	for _, what := range []string{"idle", "next", "closed"} {
		destroyed := 0
		p := &Pool[int]{New: func(context.Context) (int, error) { return 1, nil }, Destroy: func(int) { destroyed++ }, Max: 1}
		if _, err := p.Get(context.Background()); err != nil {
			t.Fatal(err)
		}
		var w *park.Waiter
		var mine *place[wish[int]]
		first := func() {
			if what == "next" {
				w = park.New(nil)
				p.mu.Lock()
				mine = p.places.take(w)
				p.waiting.push(mine)
				p.mu.Unlock()
			}
			p.Put(1)
			if what == "closed" {
				p.Close()
			}
		}
		func() {
			defer func() { _ = recover() }()
			_, _ = p.Get(&brittle{context.Background(), first})
		}()
		switch s := p.Stats(); what {
		case "idle":
			if s.Idle != 1 || s.Lent != 0 {
				t.Errorf("%+v", s)
			}
		case "next":
			if o := w.Withdraw(mine.t); o != park.Woken || s.Lent != 1 {
				t.Errorf("the next one: %v, %+v", o, s)
			}
			if v, err := p.leave(mine, park.Woken); v != 1 || err != nil {
				t.Errorf("the next one got %d, %v", v, err)
			}
		case "closed":
			if destroyed != 1 || s.Total != 0 || !p.gone.IsSet() {
				t.Errorf("destroyed %d, %+v", destroyed, s)
			}
		}
		if p.Queued() {
			t.Errorf("%s: somebody is left", what)
		}
	}

	// Before anything came: it has left, and what was made for it is idle.
	made := make(chan int)
	p := &Pool[int]{New: func(context.Context) (int, error) { return <-made, nil }, Max: 1} // else the next Get may have another made
	func() {
		defer func() { _ = recover() }()
		_, _ = p.Get(&brittle{context.Background(), func() {}})
	}()
	if s := p.Stats(); s.Waiting != 0 || s.Making != 1 {
		t.Errorf("%+v", s)
	}
	made <- 7
	if v, err := p.Get(context.Background()); v != 7 || err != nil {
		t.Errorf("%d, %v", v, err)
	}
}

// The pool's timer: there is one while something is idle, and it does not come for what is not too old.
func TestBubblePoolBroom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var gone []int
		destroyed := func() string {
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			return fmt.Sprint(gone)
		}
		n := 0
		p := &Pool[int]{
			New:     func(context.Context) (int, error) { n++; return n, nil },
			Destroy: func(v int) { mu.Lock(); gone = append(gone, v); mu.Unlock() },
			Idle:    time.Minute,
		}
		get := func() int {
			v, err := p.Get(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		a, b, c := get(), get(), get()
		p.Put(a)
		time.Sleep(20 * time.Second)
		p.Put(b)
		if got := get(); got != b {
			t.Errorf("got %d, want the last one", got)
		}
		time.Sleep(20 * time.Second)
		p.Put(b)
		p.Put(c)
		time.Sleep(20*time.Second - 1)
		if got := destroyed(); got != "[]" {
			t.Fatalf("early: %v", got)
		}
		time.Sleep(1)
		if got := destroyed(); got != fmt.Sprint([]int{a}) {
			t.Fatalf("destroyed %v", got)
		}
		if got := get(); got != c {
			t.Errorf("got %d, want the last one", got)
		}
		time.Sleep(40 * time.Second)
		if got := destroyed(); got != fmt.Sprint([]int{a, b}) {
			t.Fatalf("destroyed %v", got)
		}
		if p.armed {
			t.Error("a timer, though nothing is idle")
		}
		time.Sleep(time.Hour)
		p.Put(c)
		if !p.armed {
			t.Error("no timer")
		}
		// The broom is late: what is too old is not handed out all the same.
		p.mu.Lock()
		p.idle.at(0).until = clock.Now()
		p.mu.Unlock()
		if v, ok := p.TryGet(); ok {
			t.Errorf("got %d, which is too old", v)
		}
		if got := destroyed(); got != fmt.Sprint([]int{a, b, c}) {
			t.Errorf("destroyed %v", got)
		}
		p.Put2(t, get())
		p.Close()
		if s := p.Stats(); s.TooOld != 3 || s.Destroyed != 4 || s.Made != 4 || s.Total != 0 {
			t.Errorf("%+v", s)
		}
		if p.broom.Stop() {
			t.Error("the timer was still pending")
		}
	})
}

// Put2 puts v back, takes it out and puts it back: the timer is armed once.
func (p *Pool[T]) Put2(t *testing.T, v T) {
	p.Put(v)
	if _, ok := p.TryGet(); !ok || !p.armed {
		t.Error("not idle, or no timer")
	}
	p.Put(v)
}

// Waited reports whether somebody is in Wait.
func (p *Pool[T]) Waited() bool { return p.gone.Queued() }

// What comes between the first look and the wait is seen by the second one.
func TestPoolLooksTwice(t *testing.T) {
	bg := context.Background()
	p := &Pool[int]{New: func(context.Context) (int, error) { return 1, nil }, Max: 1, Idle: time.Hour}
	v, err := p.Get(bg)
	if err != nil {
		t.Fatal(err)
	}
	p.Put(v)
	if v, err = p.wait(bg); v != 1 || err != nil || p.Stats().Waits != 1 {
		t.Errorf("an item is idle: %d, %v, %+v", v, err, p.Stats())
	}
	p.Put(v)
	p.mu.Lock()
	p.idle.at(0).until = clock.Now() // too old meanwhile
	p.mu.Unlock()
	if v, err = p.wait(bg); v != 1 || err != nil || p.Stats().TooOld != 1 {
		t.Errorf("an item is too old: %d, %v, %+v", v, err, p.Stats())
	}
	p.Close() // with one lent, so that nothing ends the wait
	if _, err := p.wait(bg); err != ErrClosed {
		t.Errorf("closed: %v", err)
	}
	p.Put(v)
	if err := p.Wait(bg); err != nil || p.Stats().Waiting != 0 {
		t.Errorf("%v, %+v", err, p.Stats())
	}
}

// Closed before its goroutine has begun: New is not called any more.
func TestPoolClosedBeforeNew(t *testing.T) {
	p := &Pool[int]{New: func(context.Context) (int, error) { t.Error("called"); return 1, nil }}
	w := park.New(nil)
	p.mu.Lock()
	mine := p.places.take(w)
	mine.v.ctx = context.Background()
	p.waiting.push(mine)
	a := p.next()
	p.mu.Unlock()
	p.Close()
	p.try(a)
	if o := w.Withdraw(a.t); o != park.Closed || p.Stats().Total != 0 || !p.gone.IsSet() {
		t.Errorf("%v, %+v", o, p.Stats())
	}
}
