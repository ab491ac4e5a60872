package syncs_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync/atomic"

	"bide.invalid/bide/syncs"
)

func init() {
	linear = append(linear,
		subject{"Mutex", lockSteps(func() locking { return new(syncs.Mutex) }), lockModel},
		subject{"Queue", queueSteps(func(n int) queueing { return syncs.NewQueue[int](n) }), queueModel},
		subject{"Future", futureSteps(func() promise { return new(syncs.Future[int]) }), futureModel},
		subject{"Pool", poolSteps(func(p *syncs.Pool[int]) lending { return p }), poolModel},
	)
	broken = append(broken,
		subject{"Mutex, canceled and holding", lockSteps(func() locking { return &keepingMutex{} }), lockModel},
		subject{"Mutex, two holders", lockSteps(func() locking { return &doubleMutex{} }), lockModel},
		subject{"Queue, a canceled Get loses a value", queueSteps(func(n int) queueing { return losingQueue{syncs.NewQueue[int](n)} }), queueModel},
		subject{"Queue, a canceled Put has put", queueSteps(func(n int) queueing { return lyingQueue{syncs.NewQueue[int](n)} }), queueModel},
		subject{"Queue, two at a time out of order", queueSteps(func(n int) queueing { return &swappingQueue{Queue: syncs.NewQueue[int](n)} }), queueModel},
		subject{"Future, two values", futureSteps(func() promise { return new(twiceFuture) }), futureModel},
		subject{"Pool, one lent to two", poolSteps(func(p *syncs.Pool[int]) lending { return &doublePool{Pool: p} }), poolModel},
		subject{"Pool, a canceled Get loses an item", poolSteps(func(p *syncs.Pool[int]) lending { return losingPool{p} }), poolModel},
	)
}

// Mutex: free or held.

type locking interface {
	Lock(ctx context.Context) error
	TryLock() bool
	Unlock()
}

var lockModel = stepper(false, func(held bool, o op, r res) (bool, bool) {
	switch o.do {
	case "lock":
		return !held, true
	case "trylock":
		if r.ok {
			return !held, true
		}
		return held, held
	}
	return held, false // unlock
})

func lockSteps(make func() locking) func() (func(c *client, i int), func(c *client)) {
	return func() (func(c *client, i int), func(c *client)) {
		m := make()
		step := func(c *client, _ int) {
			var r res
			if c.r.IntN(4) == 0 {
				r = c.do(op{"trylock", 0}, func() res { return res{ok: m.TryLock()} })
			} else {
				r = c.wait(op{"lock", 0}, func(ctx context.Context) (int, error) { return 0, m.Lock(ctx) })
			}
			if r.ok {
				for range c.r.IntN(12) {
					yield()
				}
				c.do(op{"unlock", 0}, func() res { m.Unlock(); return res{ok: true} })
			}
		}
		return step, func(*client) {}
	}
}

// keepingMutex keeps the lock when it was canceled, now and then.
type keepingMutex struct {
	syncs.Mutex
	n atomic.Int64
}

func (m *keepingMutex) Lock(ctx context.Context) error {
	err := m.Mutex.Lock(ctx)
	if err != nil && m.n.Add(1)%4 == 0 {
		m.Mutex.TryLock()
	}
	return err
}

// doubleMutex lets a second one in, now and then.
type doubleMutex struct {
	syncs.Mutex
	n, in atomic.Int64
}

func (m *doubleMutex) TryLock() bool {
	if m.n.Add(1)%3 == 0 {
		m.in.Add(1)
		return true
	}
	return m.Mutex.TryLock()
}

func (m *doubleMutex) Unlock() {
	if n := m.in.Load(); n > 0 && m.in.CompareAndSwap(n, n-1) {
		return
	}
	m.Mutex.Unlock()
}

// Queue: the values that are in, and whether it is closed.

const queueRoom = 2

type queueing interface {
	Put(ctx context.Context, v int) error
	TryPut(v int) bool
	Get(ctx context.Context) (int, error)
	TryGet() (int, bool)
	Close()
}

type queueState struct {
	in     string // the values, with commas behind them
	n      int
	closed bool
}

func (s queueState) first() (v int, rest queueState) {
	first, in, _ := strings.Cut(s.in, ",")
	v, _ = strconv.Atoi(first)
	return v, queueState{in, s.n - 1, s.closed}
}

var queueModel = stepper(queueState{}, func(s queueState, o op, r res) (bool, queueState) {
	switch o.do {
	case "put":
		switch {
		case r.closed:
			return s.closed, s
		case !r.ok: // of TryPut
			return s.closed || s.n == queueRoom, s
		case s.closed || s.n == queueRoom:
			return false, s
		}
		return true, queueState{s.in + strconv.Itoa(o.arg) + ",", s.n + 1, false}
	case "get":
		switch {
		case r.closed:
			return s.closed && s.n == 0, s
		case !r.ok: // of TryGet
			return s.n == 0, s
		case s.n == 0:
			return false, s
		}
		v, rest := s.first()
		return v == r.v, rest
	}
	s.closed = true
	return true, s
})

func queueSteps(make func(n int) queueing) func() (func(c *client, i int), func(c *client)) {
	return func() (func(c *client, i int), func(c *client)) {
		q := make(queueRoom)
		step := func(c *client, i int) {
			v := c.id*1000 + i
			// Two mostly put and two mostly get, so that both ends are waited for.
			puts := c.r.IntN(8) != 0 == (c.id%2 == 0)
			try := c.r.IntN(5) == 0
			switch {
			case c.id == 0 && i == 22:
				c.do(op{"close", 0}, func() res { q.Close(); return res{ok: true} })
			case puts && try:
				c.do(op{"put", v}, func() res { return res{ok: q.TryPut(v)} })
			case puts:
				c.wait(op{"put", v}, func(ctx context.Context) (int, error) { return 0, q.Put(ctx, v) })
			case try:
				c.do(op{"get", 0}, func() res { v, ok := q.TryGet(); return res{ok: ok, v: v} })
			default:
				c.wait(op{"get", 0}, q.Get)
			}
		}
		return step, func(c *client) {
			if c.id == 0 { // what is left
				for ok := true; ok; {
					ok = c.do(op{"get", 0}, func() res { v, ok := q.TryGet(); return res{ok: ok, v: v} }).ok
				}
			}
		}
	}
}

// losingQueue takes a value for a Get that fails.
type losingQueue struct{ *syncs.Queue[int] }

func (q losingQueue) Get(ctx context.Context) (int, error) {
	v, err := q.Queue.Get(ctx)
	if err != nil {
		q.Queue.TryGet()
	}
	return v, err
}

// lyingQueue puts a value although its Put fails.
type lyingQueue struct{ *syncs.Queue[int] }

func (q lyingQueue) Put(ctx context.Context, v int) error {
	err := q.Queue.Put(ctx, v)
	if err != nil && !errors.Is(err, syncs.ErrClosed) {
		q.Queue.TryPut(v)
	}
	return err
}

// swappingQueue holds a value back, and lets the next one pass.
type swappingQueue struct {
	*syncs.Queue[int]
	n atomic.Int64
}

func (q *swappingQueue) TryGet() (int, bool) {
	if q.n.Add(1)%2 != 0 {
		return q.Queue.TryGet()
	}
	first, ok := q.Queue.TryGet()
	second, more := q.Queue.TryGet()
	if !ok || !more || !q.Queue.TryPut(first) {
		return first, ok
	}
	return second, true
}

// Future: open, claimed by a writer, or complete. Between the claim and the completion others lose already, and nobody
// sees a value yet; so a Set that wins is two operations.

type promise interface {
	Set(v int) bool
	Wait(ctx context.Context) (int, error)
	Poll() (int, bool, error)
}

type futureState struct {
	claimed, complete bool
	v                 int
}

var futureModel = stepper(futureState{}, func(s futureState, o op, r res) (bool, futureState) {
	switch o.do {
	case "claim":
		return !s.claimed, futureState{claimed: true, v: o.arg}
	case "complete":
		return s.claimed && s.v == o.arg, futureState{true, true, s.v}
	case "lose":
		return s.claimed, s
	}
	if !r.ok { // of Poll
		return !s.complete, s
	}
	return s.complete && s.v == r.v, s
})

func futureSteps(make func() promise) func() (func(c *client, i int), func(c *client)) {
	return func() (func(c *client, i int), func(c *client)) {
		f := make()
		step := func(c *client, i int) {
			switch n := c.r.IntN(8); {
			case n == 0 && i > 3*c.id:
				v := c.id*1000 + i + 1
				if c.do(op{"claim", v}, func() res { return res{ok: f.Set(v)} }).ok {
					again := c.ops[len(c.ops)-1]
					again.Input = op{"complete", v}
					c.ops = append(c.ops, again)
				} else {
					c.ops[len(c.ops)-1].Input = op{"lose", v}
				}
			case n < 3:
				c.do(op{"see", 0}, func() res { v, ok, _ := f.Poll(); return res{ok: ok, v: v} })
			default:
				c.wait(op{"see", 0}, f.Wait)
			}
		}
		return step, func(*client) {}
	}
}

// twiceFuture takes a second value, now and then.
type twiceFuture struct {
	f [2]syncs.Future[int]
	n atomic.Int64
}

func (f *twiceFuture) Set(v int) bool {
	return f.f[0].Set(v) || f.f[1].Set(v)
}

func (f *twiceFuture) Wait(ctx context.Context) (int, error) { return f.f[0].Wait(ctx) }

func (f *twiceFuture) Poll() (int, bool, error) {
	if f.n.Add(1)%2 == 0 {
		if v, ok, err := f.f[1].Poll(); ok {
			return v, ok, err
		}
	}
	return f.f[0].Poll()
}

// Pool: which items are idle, lent, or gone. One that nobody has seen may be made at any time.

const poolMax = 2

type lending interface {
	Get(ctx context.Context) (int, error)
	TryGet() (int, bool)
	Put(v int)
	Drop(v int)
}

type poolState struct{ idle, lent, gone uint64 }

var poolModel = stepper(poolState{}, func(s poolState, o op, r res) (bool, poolState) {
	switch o.do {
	case "get":
		if !r.ok { // of TryGet
			return s.idle == 0, s
		}
		bit := uint64(1) << r.v
		if bit&(s.lent|s.gone) != 0 {
			return false, s
		}
		s.idle &^= bit
		s.lent |= bit
		return ones(s.idle|s.lent) <= poolMax, s
	case "put":
		bit := uint64(1) << o.arg
		ok := s.lent&bit != 0
		s.lent &^= bit
		s.idle |= bit
		return ok, s
	}
	bit := uint64(1) << o.arg // drop
	ok := s.lent&bit != 0
	s.lent &^= bit
	s.gone |= bit
	return ok, s
})

func ones(v uint64) (n int) {
	for ; v != 0; v &= v - 1 {
		n++
	}
	return n
}

func poolSteps(wrap func(p *syncs.Pool[int]) lending) func() (func(c *client, i int), func(c *client)) {
	return func() (func(c *client, i int), func(c *client)) {
		var ids atomic.Int64
		pool := &syncs.Pool[int]{Max: poolMax, New: func(context.Context) (int, error) {
			for range 5 {
				yield()
			}
			return int(ids.Add(1) - 1), nil
		}}
		p := wrap(pool)
		step := func(c *client, _ int) {
			var r res
			if c.r.IntN(4) == 0 {
				r = c.do(op{"get", 0}, func() res { v, ok := p.TryGet(); return res{ok: ok, v: v} })
			} else {
				r = c.wait(op{"get", 0}, p.Get)
			}
			if !r.ok {
				return
			}
			for range c.r.IntN(12) {
				yield()
			}
			if c.r.IntN(4) == 0 && ids.Load() < 50 {
				c.do(op{"drop", r.v}, func() res { p.Drop(r.v); return res{ok: true} })
			} else {
				c.do(op{"put", r.v}, func() res { p.Put(r.v); return res{ok: true} })
			}
		}
		return step, func(*client) {}
	}
}

// doublePool lends an item that is lent, now and then.
type doublePool struct {
	*syncs.Pool[int]
	last, n, twice atomic.Int64
}

func (p *doublePool) Get(ctx context.Context) (int, error) {
	v, err := p.Pool.Get(ctx)
	if err == nil {
		p.last.Store(int64(v) + 1)
	}
	return v, err
}

func (p *doublePool) TryGet() (int, bool) {
	if last := p.last.Load(); last > 0 && p.n.Add(1)%2 == 0 {
		p.twice.Add(1)
		return int(last - 1), true
	}
	return p.Pool.TryGet()
}

func (p *doublePool) Put(v int) {
	if n := p.twice.Load(); n > 0 && p.twice.CompareAndSwap(n, n-1) {
		return
	}
	p.Pool.Put(v)
}

func (p *doublePool) Drop(v int) { p.Put(v) }

// losingPool takes an idle item for a Get that fails.
type losingPool struct{ *syncs.Pool[int] }

func (p losingPool) Get(ctx context.Context) (int, error) {
	v, err := p.Pool.Get(ctx)
	if err != nil {
		if v, ok := p.Pool.TryGet(); ok {
			p.Pool.Drop(v)
		}
	}
	return v, err
}
