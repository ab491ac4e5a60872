package syncs_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/invariant"
	"bide.invalid/bide/internal/stress"
	"bide.invalid/bide/syncs"
)

// A thousand wait under one scope, which is canceled while what they wait for goes from one to the next: each returns
// once, with or without it; nobody has it and is canceled, and at the end it is there.
func TestStressThousandWaiters(t *testing.T) {
	source := stress.Source(t)
	for i, x := range calls {
		t.Run(x.name, func(t *testing.T) {
			n, rounds := 1000, 3
			if testing.Short() || invariant.On {
				n, rounds = 200, 2
			}
			for round := range rounds {
				r := source(i*10 + round)
				c := x.make()
				s := bide.Open(context.Background())
				var granted, canceled, started atomic.Int64
				aim, order := int64(1+r.IntN(n/2)), r.IntN(3)
				var group sync.WaitGroup
				cancel := func() { s.Cancel(errBecause) }
				for range n {
					group.Go(func() {
						started.Add(1)
						switch err := c.wait(s); {
						case err == nil && granted.Add(1) != aim:
							c.give()
						case err == nil && order == 0: // in the midst of it, in one instant
							cancel()
							c.give()
						case err == nil && order == 1:
							c.give()
							cancel()
						case err == nil:
							group.Go(cancel)
							c.give()
						case by(bide.ByCancel)(err):
							canceled.Add(1)
						default:
							t.Errorf("error %v", err)
						}
					})
				}
				for started.Load() < int64(n) {
					yield()
				}
				for range 100 {
					yield()
				}
				c.grant()
				group.Wait()
				if !c.clean() {
					t.Error("somebody is left in a queue")
				}
				if got := granted.Load() + canceled.Load(); got != int64(n) {
					t.Errorf("%d of %d have returned", got, n)
				}
				if err := bide.FailAfter(context.Background(), time.Minute, c.wait); err != nil {
					t.Errorf("it is lost: %v", err)
				}
				t.Logf("granted %d, canceled %d", granted.Load(), canceled.Load())
				s.Close(nil)
			}
		})
	}
}

// stormy is under, with a context now and then that panics when the wait begins; who recovers that has got nothing.
func stormy(r *rand.Rand, f func(ctx context.Context) error) (err error) {
	if r.IntN(12) != 0 {
		return under(r, f)
	}
	defer func() {
		if p := recover(); p == "brittle" {
			err = errBecause
		} else if p != nil {
			panic(p)
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(r.IntN(100))*time.Microsecond)
	defer cancel()
	return f(&brittle{ctx, []string{"Done", "Value"}[r.IntN(2)], func() {}})
}

// An exclusive is a way to be alone.
type exclusive struct {
	lock   func(ctx context.Context) error
	until  func(deadline clock.Instant) error // or nil
	try    func() bool
	unlock func()
	idle   func() bool
}

// exclusives are all of them but Mutex. Some share a lock, in two ways.
var exclusives = []struct {
	name string
	make func() []exclusive
}{
	{"FairMutex, Ticket", func() []exclusive {
		m := new(syncs.FairMutex)
		wait := func(ctx context.Context) error {
			k := m.LockAsync()
			defer k.Cancel()
			yield()
			return k.Wait(ctx)
		}
		return []exclusive{
			{m.Lock, m.LockUntil, m.TryLock, m.Unlock, m.Idle},
			{wait, m.LockUntil, m.TryLock, m.Unlock, m.Idle},
		}
	}},
	{"RWMutex", func() []exclusive {
		m := new(syncs.RWMutex)
		return []exclusive{{m.Lock, m.LockUntil, m.TryLock, m.Unlock, m.Idle}}
	}},
	{"Semaphore", func() []exclusive {
		s := syncs.NewSemaphore(3)
		idle := func() bool { return s.Held() == 0 && !s.Queued() }
		some := func(n int64) exclusive {
			lock := func(ctx context.Context) error { return s.Acquire(ctx, n) }
			return exclusive{lock, nil, func() bool { return s.TryAcquire(n) }, func() { s.Release(n) }, idle}
		}
		return []exclusive{some(2), some(3)} // no two of them fit
	}},
	{"KeyedMutex", func() []exclusive {
		m := new(syncs.KeyedMutex[string])
		m.TryLock("other")
		lock := func(ctx context.Context) error { return m.Lock(ctx, "k") }
		idle := func() bool { return m.Len() == 1 }
		return []exclusive{{lock, nil, func() bool { return m.TryLock("k") }, func() { m.Unlock("k") }, idle}}
	}},
}

// Mutual exclusion, under all kinds of contexts and bounds: who got nil holds it, alone, and at the end nothing is left.
func TestStressExclusive(t *testing.T) {
	source := stress.Source(t)
	for _, x := range exclusives {
		t.Run(x.name, func(t *testing.T) {
			atProcs(t, func(t *testing.T) {
				more := stress.Lasting(t, 4*len(procs))
				ways := x.make()
				var inside, held, failed atomic.Int64
				counter := int64(0) // guarded by the lock; the race detector watches
				var group sync.WaitGroup
				for g := range 8 {
					group.Go(func() {
						r := source(g)
						for more() {
							way := ways[r.IntN(len(ways))]
							ok := false
							switch k := r.IntN(10); {
							case k == 0:
								ok = way.try()
							case k <= 2 && way.until != nil:
								err := way.until(clock.After(time.Duration(r.IntN(1000)-100) * time.Microsecond))
								if ok = err == nil; !ok && err != os.ErrDeadlineExceeded {
									t.Error(err)
								}
							default:
								err := stormy(r, func(ctx context.Context) error {
									err := way.lock(ctx)
									ok = err == nil
									return err
								})
								if !ok && err == nil {
									t.Error("failed, but not with an error")
								}
							}
							if !ok {
								failed.Add(1)
								continue
							}
							if inside.Add(1) != 1 {
								t.Error("not alone")
							}
							counter++
							for range r.IntN(16) {
								yield()
							}
							inside.Add(-1)
							held.Add(1)
							way.unlock()
						}
					})
				}
				group.Wait()
				if !ways[0].idle() {
					t.Error("something is left")
				}
				if counter != held.Load() {
					t.Errorf("counted %d, held %d times", counter, held.Load())
				}
				t.Logf("held %d, failed %d", held.Load(), failed.Load())
			})
		})
	}
}

// Readers and writers: a writer is alone, and readers only with readers.
func TestStressRWMutex(t *testing.T) {
	source := stress.Source(t)
	atProcs(t, func(t *testing.T) {
		more := stress.Lasting(t, 2*len(procs))
		var m syncs.RWMutex
		var readers, writers, failed, together atomic.Int64
		var counter int64
		var group sync.WaitGroup
		for g := range 10 {
			group.Go(func() {
				r := source(g)
				for more() {
					side := rwRead
					if r.IntN(4) == 0 {
						side = rwWrite
					}
					ok := false
					switch k := r.IntN(10); {
					case k == 0:
						ok = side.try(&m)
					case k <= 2:
						err := side.until(&m, clock.After(time.Duration(r.IntN(500)-50)*time.Microsecond))
						if ok = err == nil; !ok && err != os.ErrDeadlineExceeded {
							t.Error(err)
						}
					default:
						_ = stormy(r, func(ctx context.Context) error {
							err := side.lock(&m, ctx)
							ok = err == nil
							return err
						})
					}
					if !ok {
						failed.Add(1)
						continue
					}
					if side.name == "write" {
						if writers.Add(1) != 1 || readers.Load() != 0 {
							t.Error("a writer is not alone")
						}
						counter++
						for range r.IntN(8) {
							yield()
						}
						writers.Add(-1)
					} else {
						if readers.Add(1) > 1 {
							together.Add(1)
						}
						if writers.Load() != 0 {
							t.Error("a reader beside a writer")
						}
						_ = counter
						for range r.IntN(8) {
							yield()
						}
						readers.Add(-1)
					}
					side.unlock(&m)
				}
			})
		}
		group.Wait()
		if !m.Idle() {
			t.Error("something is left")
		}
		t.Logf("wrote %d times, readers were together %d times, failed %d", counter, together.Load(), failed.Load())
	})
}

// Permits are never given twice, and all are there at the end, whatever is canceled, refused, or resized meanwhile.
func TestStressSemaphore(t *testing.T) {
	source := stress.Source(t)
	for _, resized := range []bool{false, true} {
		t.Run(fmt.Sprintf("resized=%v", resized), func(t *testing.T) {
			atProcs(t, func(t *testing.T) {
				const most = 10
				more := stress.Lasting(t, 4*len(procs))
				s := syncs.NewSemaphore(most)
				var inUse, got, failed, refused atomic.Int64
				var group sync.WaitGroup
				for g := range 10 {
					group.Go(func() {
						r := source(g)
						for more() {
							if g == 0 && resized {
								s.SetSize(most - min(r.Int64N(2*most), most))
								for range r.IntN(200) {
									yield()
								}
								s.SetSize(most)
								for range r.IntN(200) {
									yield()
								}
								continue
							}
							n := 1 + r.Int64N(4)
							if r.IntN(8) == 0 {
								n = most - r.Int64N(3)
							}
							ok := false
							if r.IntN(8) == 0 {
								ok = s.TryAcquire(n)
							} else {
								_ = stormy(r, func(ctx context.Context) error {
									err := s.Acquire(ctx, n)
									if ok = err == nil; err == syncs.ErrTooLarge {
										refused.Add(1)
										if !resized {
											t.Error(err)
										}
									}
									return err
								})
							}
							if !ok {
								failed.Add(1)
								yield()
								continue
							}
							if now := inUse.Add(n); now > most {
								t.Errorf("%d permits are in use, of %d", now, most)
							}
							for range r.IntN(16) {
								yield()
							}
							inUse.Add(-n)
							got.Add(1)
							if r.IntN(2) == 0 && n > 1 { // in two parts
								s.Release(1)
								n--
							}
							s.Release(n)
						}
					})
				}
				group.Wait()
				s.SetSize(most)
				st := s.Stats()
				if s.Queued() || st.Held != 0 || st.Waiting != 0 || !s.TryAcquire(most) {
					t.Errorf("something is left: %+v", st)
				}
				t.Logf("got %d, failed %d, refused %d, %+v", got.Load(), failed.Load(), refused.Load(), st)
			})
		})
	}
}

// Rounds of one who is patient and some who are not, and one thing at a time for which there is one signal: if a
// canceled wait swallows that, the patient one sleeps for ever beside the thing.
func TestStressCond(t *testing.T) {
	source := stress.Source(t)
	for _, broadcast := range []bool{false, true} {
		t.Run(fmt.Sprintf("broadcast=%v", broadcast), func(t *testing.T) {
			atProcs(t, func(t *testing.T) {
				more := stress.Lasting(t, 4*len(procs))
				r := source(0)
				var mu syncs.Mutex
				c := syncs.Cond{L: mu.Locker()}
				things, rounds := 0, 0
				take := func(ctx context.Context) error {
					mu.Locker().Lock()
					defer mu.Unlock()
					for things == 0 {
						if err := c.Wait(ctx); err != nil {
							return err
						}
					}
					things--
					return nil
				}
				for ; more(); rounds++ {
					var patient atomic.Bool
					var taken atomic.Int64
					var group sync.WaitGroup
					for g := range 1 + r.IntN(4) {
						r := rand.New(rand.NewPCG(r.Uint64(), uint64(g)))
						group.Go(func() {
							if stormy(r, take) == nil {
								taken.Add(1)
							}
						})
					}
					group.Go(func() {
						if err := bide.FailAfter(context.Background(), time.Minute, take); err != nil {
							t.Errorf("the patient one: %v", err)
						}
						taken.Add(1)
						patient.Store(true)
					})
					for put := int64(0); !patient.Load(); {
						if taken.Load() < put {
							yield()
							continue
						}
						mu.Locker().Lock()
						things++
						mu.Unlock()
						put++
						for range r.IntN(20) {
							yield()
						}
						if broadcast {
							c.Broadcast()
						} else {
							c.Signal()
						}
					}
					group.Add(1)
					go func() { // whoever is there still
						defer group.Done()
						mu.Locker().Lock()
						things += 5
						mu.Unlock()
						c.Broadcast()
					}()
					group.Wait()
					things = 0
				}
				if c.Queued() || !mu.Idle() {
					t.Error("something is left")
				}
				t.Logf("%d rounds", rounds)
			})
		})
	}
}
