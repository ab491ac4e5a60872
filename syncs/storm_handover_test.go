package syncs_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/stress"
	"bide.invalid/bide/syncs"
)

// Values through a queue under all kinds of contexts and bounds: each value that was put comes out once, and no other.
func TestStressQueue(t *testing.T) {
	source := stress.Source(t)
	for _, room := range []int{0, 3} {
		atProcs(t, func(t *testing.T) {
			const putters, getters = 4, 4
			more := stress.Lasting(t, 4*len(procs))
			q := syncs.NewQueue[int](room)
			var failed atomic.Int64
			var puts, gets [putters + getters][]int
			var group sync.WaitGroup
			for g := range putters {
				group.Go(func() {
					r := source(g)
					for v := g; more(); v += putters {
						ok := r.IntN(4) == 0 && q.TryPut(v)
						if !ok {
							err := under(r, func(ctx context.Context) error {
								err := q.Put(ctx, v)
								ok = err == nil
								return err
							})
							if !ok && err == nil {
								t.Error("Put failed, but not with an error")
							}
						}
						if ok {
							puts[g] = append(puts[g], v)
						} else {
							failed.Add(1)
						}
					}
				})
			}
			for g := range getters {
				group.Go(func() {
					r := source(putters + g)
					for more() {
						v, ok := 0, false
						if r.IntN(4) == 0 {
							v, ok = q.TryGet()
						} else {
							err := under(r, func(ctx context.Context) (err error) {
								v, err = q.Get(ctx)
								ok = err == nil
								return err
							})
							if !ok && err == nil {
								t.Error("Get failed, but not with an error")
							}
						}
						if ok {
							gets[g] = append(gets[g], v)
						} else {
							failed.Add(1)
						}
					}
				})
			}
			group.Go(func() {
				for more() {
					yield()
				}
				q.Close() // some wait without a bound
			})
			group.Wait()
			for v, ok := q.TryGet(); ok; v, ok = q.TryGet() {
				gets[getters] = append(gets[getters], v)
			}
			in, n := map[int]int{}, 0
			for g := range puts {
				for _, v := range puts[g] {
					in[v]++
					n++
				}
				for _, v := range gets[g] {
					in[v]--
				}
			}
			for v, n := range in {
				if n != 0 {
					t.Fatalf("value %d: put so much more often than got: %d", v, n)
				}
			}
			if s := q.Stats(); q.Queued() || s.Puts != uint64(n) || s.Gets != uint64(n) {
				t.Errorf("%d were put, %+v", n, s)
			}
			t.Logf("room %d: put and got %d, failed %d", room, n, failed.Load())
		})
	}
}

// Items lent under all kinds of contexts and bounds, with a New that fails now and then: each is lent to one at a time
// and destroyed once, there are never more than may be, and at the end none is left.
func TestStressPool(t *testing.T) {
	source := stress.Source(t)
	atProcs(t, func(t *testing.T) {
		const workers, most = 8, 3
		more := stress.Lasting(t, len(procs))
		f := &factory{t: t}
		var news atomic.Int64
		p := &syncs.Pool[*thing]{Destroy: f.destroy, Max: most, Bound: time.Minute, Idle: 2 * time.Millisecond,
			New: func(ctx context.Context) (*thing, error) {
				for range news.Add(1) % 7 {
					yield()
				}
				if news.Load()%5 == 0 {
					return nil, errRefused
				}
				return f.make(ctx)
			}}
		var lent, failed, refused atomic.Int64
		var group sync.WaitGroup
		for g := range workers {
			group.Go(func() {
				r := source(g)
				for more() {
					var c *thing
					ok := false
					if r.IntN(8) == 0 {
						c, ok = p.TryGet()
					} else {
						err := under(r, func(ctx context.Context) (err error) {
							c, err = p.Get(ctx)
							ok = err == nil
							return err
						})
						if !ok && err == nil {
							t.Error("Get failed, but not with an error")
						}
						if err == errRefused {
							refused.Add(1)
						}
					}
					if !ok {
						failed.Add(1)
						continue
					}
					lent.Add(1)
					f.lend(c)
					for range r.IntN(16) {
						yield()
					}
					f.giveBack(c)
					if r.IntN(4) == 0 {
						p.Drop(c)
					} else {
						p.Put(c)
					}
				}
			})
		}
		group.Wait()
		shut(t, p)
		s := p.Stats()
		if f.live.Load() != 0 || f.most.Load() > most || s.Made != s.Destroyed || s.Gets != uint64(lent.Load()) {
			t.Errorf("%d are left, there were up to %d; lent %d, %+v", f.live.Load(), f.most.Load(), lent.Load(), s)
		}
		t.Logf("lent %d, failed %d, refused %d; %+v", lent.Load(), failed.Load(), refused.Load(), s)
	})
}

// Calls by keys, under all kinds of contexts and bounds: each gets the value of a call that ran while it was there, or an
// error; every call ends.
func TestStressFlight(t *testing.T) {
	source := stress.Source(t)
	atProcs(t, func(t *testing.T) {
		const workers, keys = 8, 2
		more := stress.Lasting(t, 2*len(procs))
		var g syncs.Flight[int, int64]
		var began, got, failed, calls atomic.Int64
		var mu sync.Mutex
		var seen [keys]int64    // the last call whose value somebody has got
		var flying atomic.Int64 // calls that run: one that nobody wants any more may outlast everybody, and even begin late
		var group sync.WaitGroup
		for w := range workers {
			group.Go(func() {
				r := source(w)
				for more() {
					k := r.IntN(keys)
					n := r.IntN(20)
					mu.Lock()
					before := seen[k]
					mu.Unlock()
					ok, v := false, int64(0)
					err := under(r, func(ctx context.Context) (err error) {
						v, err = g.Do(ctx, k, func(ctx context.Context) (int64, error) {
							flying.Add(1)
							defer flying.Add(-1)
							calls.Add(1)
							id := began.Add(1)
							for range n {
								if ctx.Err() != nil {
									return 0, ctx.Err()
								}
								yield()
							}
							return id, nil
						})
						ok = err == nil
						return err
					})
					switch {
					case ok && (v < 1 || v > began.Load()):
						t.Errorf("got %d of %d", v, began.Load())
					case ok:
						got.Add(1)
						if v <= before {
							t.Error("got the value of a call that had ended before")
						}
						mu.Lock()
						seen[k] = max(seen[k], v)
						mu.Unlock()
					default:
						if failed.Add(1); err == nil {
							t.Error("Do failed, but not with an error")
						}
					}
				}
			})
		}
		group.Wait()
		for quiet := 0; quiet < 1000; quiet++ {
			if yield(); flying.Load() != 0 {
				quiet = 0
			}
		}
		if g.Flying() != 0 {
			t.Error("something still flies")
		}
		t.Logf("%d calls for %d results, failed %d", calls.Load(), got.Load(), failed.Load())
	})
}

// A crowd waits for something that is granted a thousand times.
type crowd struct {
	name string
	make func(t *testing.T) crowded
}

type crowded struct {
	wait  func(ctx context.Context, i int) error // and gives back what it got, if that is what grants the next one
	grant func()                                 // once for each, or once in all
	check func(got []bool)                       // at the end: who got nil
}

var crowds = []crowd{
	{"Mutex", func(t *testing.T) crowded {
		m := new(syncs.Mutex)
		m.TryLock()
		var inside atomic.Int64
		return crowded{
			func(ctx context.Context, _ int) error {
				err := m.Lock(ctx)
				if err == nil {
					if inside.Add(1) != 1 {
						t.Error("not alone")
					}
					inside.Add(-1)
					m.Unlock()
				}
				return err
			},
			sync.OnceFunc(m.Unlock),
			func([]bool) {
				if !m.Idle() {
					t.Error("something is left")
				}
			},
		}
	}},
	{"Queue.Get", func(t *testing.T) crowded {
		q := syncs.NewQueue[int](2000)
		puts := 0
		var gets atomic.Int64
		return crowded{
			func(ctx context.Context, _ int) error {
				_, err := q.Get(ctx)
				if err == nil {
					gets.Add(1)
				}
				return err
			},
			func() {
				if q.TryPut(puts) {
					puts++
				}
			},
			func([]bool) {
				if int(gets.Load())+q.Len() != puts || q.Queued() {
					t.Errorf("%d were put, %d got, %d are left", puts, gets.Load(), q.Len())
				}
			},
		}
	}},
	{"Queue.Put", func(t *testing.T) crowded {
		q := new(syncs.Queue[int])
		out := map[int]bool{}
		return crowded{
			q.Put,
			func() {
				if v, ok := q.TryGet(); ok {
					if out[v] {
						t.Errorf("%d came out twice", v)
					}
					out[v] = true
				}
			},
			func(got []bool) {
				for i, ok := range got {
					if ok != out[i] {
						t.Errorf("%d was put: %v, and came out: %v", i, ok, out[i])
					}
				}
				if q.Queued() {
					t.Error("somebody is left")
				}
			},
		}
	}},
	{"Pool", func(t *testing.T) crowded {
		const most = 3
		f := &factory{t: t}
		p := &syncs.Pool[*thing]{New: f.make, Destroy: f.destroy, Max: most}
		var held []*thing
		for range most {
			held = append(held, mustBorrow(t, p))
		}
		return crowded{
			func(ctx context.Context, i int) error {
				c, err := p.Get(ctx)
				if err == nil {
					f.giveBack(f.lend(c))
					if i%5 == 0 {
						p.Drop(c)
					} else {
						p.Put(c)
					}
				}
				return err
			},
			func() {
				if len(held) > 0 {
					p.Put(held[0])
					held = held[1:]
				}
			},
			func([]bool) {
				for _, c := range held {
					p.Put(c)
				}
				shut(t, p)
				if f.live.Load() != 0 || f.most.Load() != most {
					t.Errorf("%d are left, there were up to %d", f.live.Load(), f.most.Load())
				}
			},
		}
	}},
}

// A thousand wait, each under a context of its own, and cancellations are aimed at those whose turn it is: nobody is both
// canceled and holding, nobody is forgotten, and nothing is lost.
func TestStormCancelsAimedAtGrants(t *testing.T) {
	source := stress.Source(t)
	for _, c := range crowds {
		t.Run(c.name, func(t *testing.T) {
			canceled := 0
			rounds := some(10)
			for round := range max(rounds, 1) {
				n := max(some(1000), 100)
				x := c.make(t)
				r := source(round)
				got := make([]bool, n)
				scopes := make([]*bide.Scope, n)
				cancels := make([]func(), n)
				var ready, served atomic.Int64
				var group sync.WaitGroup
				for i := range n {
					scopes[i] = bide.Open(bg)
					ctx := context.Context(scopes[i])
					cancels[i] = func() { scopes[i].Cancel(nil) }
					if i%3 == 0 {
						ctx, cancels[i] = context.WithCancel(bg)
					}
					group.Go(func() {
						ready.Add(1)
						got[i] = x.wait(ctx, i) == nil
						served.Add(1)
					})
				}
				for ready.Load() < int64(n) {
					yield()
				}
				group.Go(func() {
					for more := true; more; more = served.Load() < int64(n) { // once at least, even if all were canceled before
						x.grant()
						for range r.IntN(3) {
							yield()
						}
					}
				})
				aim := source(1000 + round)
				group.Go(func() {
					for served.Load() < int64(n) {
						i := int(served.Load()) + aim.IntN(4)
						if i < n {
							cancels[i]()
						}
						for range aim.IntN(3) {
							yield()
						}
						if aim.IntN(n) == 0 {
							for _, cancel := range cancels { // whoever has been missed
								cancel()
							}
						}
					}
				})
				group.Wait()
				x.check(got)
				for i := range n {
					cancels[i]()
					scopes[i].Close(nil)
					if !got[i] {
						canceled++
					}
				}
			}
			t.Logf("%d canceled", canceled)
		})
	}
}

// The same under one scope, which is canceled while the grants go on: each resumes once, with exactly one of the two.
func TestStormOneScope(t *testing.T) {
	source := stress.Source(t)
	for _, c := range crowds {
		t.Run(c.name, func(t *testing.T) {
			granted, canceled := 0, 0
			for round := range max(some(20), 2) {
				n := max(some(1000), 100)
				x := c.make(t)
				r := source(round)
				got, errs := make([]bool, n), make([]error, n)
				s := bide.Open(bg)
				var ready, served atomic.Int64
				var group sync.WaitGroup
				for i := range n {
					group.Go(func() {
						ready.Add(1)
						errs[i] = x.wait(s, i)
						got[i] = errs[i] == nil
						served.Add(1)
					})
				}
				for ready.Load() < int64(n) {
					yield()
				}
				group.Go(func() {
					for more := true; more; more = served.Load() < int64(n) { // once at least, as above
						x.grant()
						yield()
					}
				})
				group.Go(func() {
					for at := int64(r.IntN(n)); served.Load() < at; {
						yield()
					}
					s.Cancel(errBecause)
				})
				group.Wait()
				x.check(got)
				s.Close(nil)
				for i, err := range errs {
					var c *bide.Canceled
					if got[i] {
						granted++
					} else if canceled++; !errors.As(err, &c) || !errors.Is(err, errBecause) {
						t.Fatal(err)
					}
				}
			}
			t.Logf("granted %d, canceled %d", granted, canceled)
		})
	}
}

// Many short bounds, and nothing to get, in a bubble: each ends at its bound, so the storm takes exactly as long as its
// bounds, and the number of attempts is what that time has room for. A livelock would hang, or spend more time.
func TestBubbleTimeoutStorm(t *testing.T) {
	full := func() *syncs.Queue[int] { q := syncs.NewQueue[int](1); q.TryPut(1); return q }
	for name, make := range map[string]func() (wait func(ctx context.Context) error, after func() bool){
		"Mutex": func() (func(context.Context) error, func() bool) {
			m := new(syncs.Mutex)
			m.TryLock()
			return m.Lock, func() bool { m.Unlock(); return m.Idle() }
		},
		"Queue.Get": func() (func(context.Context) error, func() bool) {
			q := new(syncs.Queue[int])
			return func(ctx context.Context) error { _, err := q.Get(ctx); return err }, func() bool { return !q.Queued() }
		},
		"Queue.Put": func() (func(context.Context) error, func() bool) {
			q := full()
			return func(ctx context.Context) error { return q.Put(ctx, 2) }, func() bool {
				v, ok := q.TryGet()
				return v == 1 && ok && !q.Queued() && q.Len() == 0
			}
		},
		"Pool": func() (func(context.Context) error, func() bool) {
			p := &syncs.Pool[int]{New: func(context.Context) (int, error) { return 1, nil }, Max: 1}
			v, _ := p.Get(bg)
			return func(ctx context.Context) error { _, err := p.Get(ctx); return err }, func() bool {
				p.Put(v)
				p.Close()
				return p.Stats().Total == 0
			}
		},
		"Pool that makes": func() (func(context.Context) error, func() bool) {
			stop := make(chan struct{})
			p := &syncs.Pool[int]{New: func(context.Context) (int, error) { <-stop; return 1, nil }, Max: 2}
			return func(ctx context.Context) error { _, err := p.Get(ctx); return err }, func() bool {
				made := p.Stats().Making
				close(stop)
				p.Close()
				return p.Wait(bg) == nil && made == 2 // no more than may be, however many have asked
			}
		},
		"Flight": func() (func(context.Context) error, func() bool) {
			g := new(syncs.Flight[int, int])
			return func(ctx context.Context) error {
				_, err := g.Do(ctx, 1, func(ctx context.Context) (int, error) { <-ctx.Done(); return 0, ctx.Err() })
				return err
			}, func() bool { synctest.Wait(); return g.Flying() == 0 }
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const workers, length = 50, time.Second
				wait, after := make()
				start := time.Now()
				var attempts atomic.Int64
				var group sync.WaitGroup
				for g := range workers {
					group.Go(func() {
						short := time.Duration(g%10+1) * time.Millisecond
						for time.Since(start) < length {
							attempts.Add(1)
							began := time.Now()
							err := bide.FailAfter(bg, short, wait)
							if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != short {
								t.Errorf("%v after %v, bound %v", err, time.Since(began), short)
								return
							}
						}
					})
				}
				group.Wait()
				want := int64(0)
				for g := range workers {
					short := time.Duration(g%10+1) * time.Millisecond
					want += int64((length + short - 1) / short)
				}
				if attempts.Load() != want {
					t.Errorf("%d attempts, want %d", attempts.Load(), want)
				}
				if !after() {
					t.Error("something is left")
				}
			})
		})
	}
}

// Real time: while many with short bounds come and go, those who are patient make progress, each of them.
func TestTimeoutStormStarvesNobodyRealTime(t *testing.T) {
	source := stress.Source(t)
	f := &factory{t: t}
	pool := &syncs.Pool[*thing]{New: f.make, Destroy: f.destroy, Max: 1}
	queue := syncs.NewQueue[int](1)
	var mutex syncs.Mutex
	use := func(r *rand.Rand) {
		for range r.IntN(8) {
			yield()
		}
	}
	once := map[string]func(ctx context.Context, r *rand.Rand) error{
		"Mutex": func(ctx context.Context, r *rand.Rand) error {
			err := mutex.Lock(ctx)
			if err == nil {
				use(r)
				mutex.Unlock()
			}
			return err
		},
		"Pool": func(ctx context.Context, r *rand.Rand) error {
			c, err := pool.Get(ctx)
			if err == nil {
				use(r)
				pool.Put(c)
			}
			return err
		},
		"Queue": func(ctx context.Context, r *rand.Rand) error { // a queue with room for one is a lock
			err := queue.Put(ctx, 1)
			if err == nil {
				use(r)
				_, err = queue.Get(bg)
			}
			return err
		},
	}
	for name, once := range once {
		t.Run(name, func(t *testing.T) {
			const stormy, patient, budget = 16, 4, 2000
			var over atomic.Bool
			var tries, timeouts atomic.Int64
			var storm, group sync.WaitGroup
			for g := range stormy {
				storm.Go(func() {
					r := source(g)
					for !over.Load() {
						tries.Add(1)
						short := time.Duration(r.IntN(60)) * time.Microsecond
						if bide.FailAfter(bg, short, func(ctx context.Context) error { return once(ctx, r) }) != nil {
							timeouts.Add(1)
						}
					}
				})
			}
			for g := range patient {
				group.Go(func() {
					r := source(stormy + g)
					for range some(budget) { // hangs if it starves
						if err := once(bg, r); err != nil {
							t.Error(err)
						}
					}
				})
			}
			group.Wait()
			over.Store(true)
			storm.Wait()
			t.Logf("the storm: %d attempts, %d timeouts", tries.Load(), timeouts.Load())
		})
	}
	shut(t, pool)
	if !mutex.Idle() || queue.Queued() || queue.Len() != 0 {
		t.Error("something is left")
	}
}

// LockUntil is bounded by an instant: the same storm without a scope.
func TestBubbleLockUntilStorm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m syncs.Mutex
		m.TryLock()
		start := time.Now()
		var group sync.WaitGroup
		for g := range 50 {
			group.Go(func() {
				for range 100 {
					if m.LockUntil(clock.After(time.Duration(g+1)*time.Millisecond)) == nil {
						t.Error("nobody has released it")
					}
				}
			})
		}
		group.Wait()
		if d := time.Since(start); d != 100*50*time.Millisecond {
			t.Errorf("took %v", d)
		}
		m.Unlock()
		if !m.Idle() {
			t.Error("something is left")
		}
	})
}
