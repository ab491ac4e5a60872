package queue

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"bide.invalid/bide/clock"
	"bide.invalid/bide/internal/invariant"
)

// A suite runs the cases for one queue, and counts them.
type suite struct {
	*testing.T
	c     Candidate
	unit  clock.Instant // what is so far apart is not rounded to the same tick
	cases int
}

// TestConformance holds every queue to the same cases, all small ones first, and prints how many there were.
func TestConformance(t *testing.T) {
	for _, c := range candidates() {
		t.Run(c.Name, func(t *testing.T) {
			s := &suite{T: t, c: c, unit: max(1, clock.Instant(c.Tick))}
			s.bullets()
			s.deletions()
			s.moves()
			s.distances()
			s.buffers()
			s.late()
			s.random()
			if !t.Failed() {
				fmt.Printf("queue %s: %d cases\n", c.Name, s.cases)
			}
		})
	}
}

// run is one case, with n items.
func (s *suite) run(n int, f func(p *player) error, what string, args ...any) {
	s.cases++
	if err := f(newPlayer(s, s.c, n)); err != nil {
		s.Fatalf("%s: %v", fmt.Sprintf(what, args...), err)
	}
}

// add schedules items 0, 1, … at so many units.
func (s *suite) add(p *player, units ...int) error {
	for id, u := range units {
		if err := p.schedule(id, s.at(u), false); err != nil {
			return err
		}
	}
	return nil
}

func (s *suite) at(units int) clock.Instant { return clock.Instant(units) * s.unit }

// drains checks in which order what is in comes.
func (p *player) drains(want ...int) error {
	got, err := p.drain()
	if err == nil && !slices.Equal(got, want) {
		err = fmt.Errorf("the order is %v, want %v", got, want)
	}
	return err
}

// first returns the first error.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// bullets are what the tests of other systems check, one by one.
func (s *suite) bullets() {
	s.run(1, func(p *player) error {
		_, err := p.expire(s.at(5), 3, false)
		return first(p.settled(), p.cancel(0), err, p.cancel(0), p.drains())
	}, "empty")
	s.run(3, func(p *player) error { return first(s.add(p, 3, 1, 2), p.drains(1, 2, 0)) }, "distinct deadlines")
	s.run(4, func(p *player) error { return first(s.add(p, 2, 1, 2, 1), p.drains(1, 3, 0, 2)) }, "equal deadlines")
	s.run(2, func(p *player) error {
		if err := s.add(p, 2, 0); err != nil {
			return err
		}
		for id := range p.items {
			if got := panics(func() { p.q.Schedule(&p.items[id], s.at(1)) }); got != "bide/timer/queue: Schedule of an Item that is in a queue" {
				return fmt.Errorf("panic %v", got)
			}
		}
		return first(p.settled(), p.drains(1, 0))
	}, "double add")
	s.run(1, func(p *player) error {
		other := s.c.New()
		err := first(s.add(p, 2), p.cancel(0))
		for _, f := range []func(*Item, clock.Instant) bool{other.Schedule, other.Reschedule} {
			if got := panics(func() { f(&p.items[0], 1) }); got != "bide/timer/queue: Schedule of an Item of another queue" {
				return fmt.Errorf("panic %v", got)
			}
		}
		if was, wasNext := other.Cancel(&p.items[0]); was || wasNext {
			return fmt.Errorf("Cancel in another queue: %v, %v", was, wasNext)
		}
		return err
	}, "an item of another queue")
	s.run(2, func(p *player) error {
		return first(s.add(p, 2, 3), p.cancel(0), p.schedule(0, s.at(4), false), p.cancel(1), p.schedule(1, s.at(1), false), p.drains(1, 0))
	}, "add again after cancel")
	s.run(2, func(p *player) error {
		return first(s.add(p, 2, 3), p.drains(0, 1), p.schedule(1, s.at(5), false), p.schedule(0, s.at(6), false), p.drains(1, 0))
	}, "add again after it came")
	s.run(2, func(p *player) error {
		return first(s.add(p, 2), p.cancel(1), p.cancel(0), p.cancel(0), p.schedule(0, 0, false), p.cancel(0), p.cancel(0))
	}, "second cancel")
	s.run(5, func(p *player) error {
		err := s.add(p, 5, 1, 4, 2, 3)
		got, err2 := p.expire(s.at(3), 9, false)
		if s.c.Coarse || slices.Equal(got, []int{1, 3, 4}) {
			return first(err, err2)
		}
		return first(err, err2, fmt.Errorf("at 3 came %v", got))
	}, "only what is due")
	for _, n := range []int{10, 1000} {
		s.run(n, func(p *player) error {
			order := rand.New(rand.NewPCG(1, uint64(n))).Perm(n)
			want := make([]int, n)
			for id, u := range order {
				want[u] = id
				if err := p.schedule(id, s.at(1+u), false); err != nil {
					return err
				}
			}
			if s.c.Coarse { // its buckets are not as fine as that; player looks at the order
				_, err := p.drain()
				return err
			}
			return p.drains(want...)
		}, "%d, shuffled", n)
	}
	s.run(2, func(p *player) error {
		return first(p.schedule(0, clock.Forever, false), p.schedule(1, s.at(3), false), p.schedule(0, s.at(2), true),
			p.schedule(1, clock.Forever, true), p.drains(0), p.cancel(1), p.cancel(1))
	}, "Forever")
	if s.c.Tick == 10*time.Millisecond { // looks at what is far before it is due
		return
	}
	s.run(5, func(p *player) error {
		var got []bool
		for id, u := range []int{5, 3, 3, 7, 1} {
			got = append(got, p.q.Schedule(&p.items[id], s.at(u)))
		}
		for _, id := range []int{3, 4, 4, 1, 0} {
			was, wasNext := p.q.Cancel(&p.items[id])
			got = append(got, was, wasNext)
		}
		want := []bool{true, true, false, false, true, true, false, true, true, false, false, true, true, true, false}
		if p.lazy() { // Next is still that of the one that was canceled
			want[12] = false
		}
		if !slices.Equal(got, want) {
			return fmt.Errorf("%v, want %v", got, want)
		}
		return nil
	}, "the first is reported")
}

func panics(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}

// small is how many items all permutations are made of. A wheel that has thousands of slots to make takes longer.
func (s *suite) small() int {
	if testing.Short() || invariant.On || s.c.Name == "wheel-simple" || s.c.Name == "wheel-hashed" {
		return 4
	}
	return 5
}

// permutations calls f with every order of 0 … n-1. f keeps nothing.
func permutations(n int, f func(order []int)) {
	order := make([]int, 0, n)
	var rec func()
	rec = func() {
		if len(order) == n {
			f(order)
		}
		for i := range n {
			if !slices.Contains(order, i) {
				order = append(order, i)
				rec()
				order = order[:len(order)-1]
			}
		}
	}
	rec()
}

// patterns are deadlines, in units, for items that are scheduled in any order: distinct, with equals, far apart.
func (s *suite) patterns() [][]int {
	return [][]int{{1, 2, 3, 4, 5}, {1, 2, 2, 3, 3}, {3, 70, 71, 600, 5000}}
}

// deletions: every order of scheduling, every subset to cancel, before anything has come and after the first has.
func (s *suite) deletions() {
	n := s.small()
	for _, units := range s.patterns() {
		permutations(n, func(order []int) {
			for subset := range 1 << n {
				for _, popFirst := range []bool{false, true} {
					s.run(n, func(p *player) error {
						for _, id := range order {
							if err := p.schedule(id, s.at(units[id]), false); err != nil {
								return err
							}
						}
						if popFirst {
							if _, err := p.expire(p.next(), 1, true); err != nil {
								return err
							}
						}
						for id := range n {
							if subset>>id&1 != 0 {
								if err := p.cancel(id); err != nil {
									return err
								}
							}
						}
						_, err := p.drain()
						return err
					}, "units %v, order %v, subset %b, pop %v", units, order, subset, popFirst)
				}
			}
		})
	}
}

// moves: every order of scheduling, each item moved to before, to, and behind each other, and another one canceled.
func (s *suite) moves() {
	const n = 4
	permutations(n, func(order []int) {
		for id := range n {
			for to := range 2*n + 3 {
				s.run(n, func(p *player) error {
					for _, id := range order {
						if err := p.schedule(id, s.at(20*id+20), false); err != nil {
							return err
						}
					}
					err := first(p.schedule(id, s.at(10*to), true), p.cancel((id+1)%n))
					_, err2 := p.drain()
					return first(err, err2, p.schedule(id, p.told+s.unit, true), p.drains(id))
				}, "order %v, %d moved to %d", order, id, to)
			}
		}
	})
}

// distances: never early, and late by no more than the table says, at any distance and after any uptime.
func (s *suite) distances() {
	var some []clock.Instant
	for shift := range 63 {
		some = append(some, 1<<shift, 1<<shift+1, 1<<shift+clock.Instant(s.c.Tick), 1<<shift+1<<shift>>1)
	}
	some = append(some, horizon-1, horizon, horizon+1, clock.Forever-1)
	for _, uptime := range []clock.Instant{0, 1, 999_999, 1 << 20, 1<<26 - 1, 1 << 36, 1<<50 + 12345, 1 << 62, clock.Forever - 1<<40} {
		for _, d := range some {
			s.run(2, func(p *player) error {
				at := uptime.Add(time.Duration(d))
				err := first(p.uptime(uptime), p.schedule(0, at, false), p.schedule(1, at, false))
				_, err2 := p.drain()
				return first(err, err2)
			}, "uptime %d, distance %d", uptime, d)
		}
	}
}

// buffers: whatever the size of the buffer, each comes once, in order, and what is scheduled meanwhile too.
func (s *suite) buffers() {
	const n = 12
	for size := 1; size <= n+1; size++ {
		for _, units := range []int{1, 3, 100} {
			s.run(n+2, func(p *player) error {
				for id := range n {
					if err := p.schedule(id, s.at(1+id*7%5*units), false); err != nil {
						return err
					}
				}
				now := s.at(1 + 2*units)
				_, err := p.expire(now, size, true)
				err2 := first(p.schedule(n, now, false), p.schedule(n+1, now+s.unit, false), p.cancel(3), p.cancel(4))
				_, err3 := p.expire(now, size, true)
				_, err4 := p.expire(now-1, size, false)
				_, err5 := p.drain()
				return first(err, err2, err3, err4, err5)
			}, "buffer of %d, %d units", size, units)
		}
	}
	s.run(1, func(p *player) error {
		err := s.add(p, 1)
		if n := p.q.Expire(s.at(1), nil); n != 0 || p.q.Len() != 1 {
			return fmt.Errorf("%d items, without a place for any", n)
		}
		p.told = s.at(1)
		return first(err, p.drains(0))
	}, "no buffer")
}

// late: what is due when it is scheduled enters no structure (the probe looks), and comes in time order with the rest.
func (s *suite) late() {
	s.run(8, func(p *player) error {
		err := first(p.schedule(0, s.at(10), false), p.schedule(1, s.at(12), false), p.schedule(2, s.at(30), false), p.uptime(s.at(9)),
			p.schedule(3, s.at(9), false), p.schedule(4, s.at(3), false), p.schedule(5, -7, false))
		if got := p.q.s.(*probe).in; len(got) != 3 {
			return fmt.Errorf("%d entered the structure, want 3", len(got))
		}
		_, err2 := p.expire(s.at(11), 1, true)
		err3 := first(p.schedule(6, s.at(11), false), p.schedule(5, s.at(11)+1, true), p.schedule(4, s.at(40), true), p.cancel(6), p.schedule(7, s.at(10), false))
		if s.c.Coarse {
			_, err4 := p.drain()
			return first(err, err2, err3, err4)
		}
		return first(err, err2, err3, p.drains(0, 7, 1, 5, 2, 4))
	}, "late ones in order")
	s.run(3, func(p *player) error {
		err := first(s.add(p, 5), p.uptime(s.at(4)), p.schedule(1, s.at(2), false))
		if next := p.next(); next != s.at(4) {
			return fmt.Errorf("Next is %d, want now, %d", next, s.at(4))
		}
		return first(err, p.schedule(2, s.at(4), false), p.cancel(2), p.cancel(1), p.drains(0))
	}, "late ones and Next")
}

func TestNamesAreWords(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range All() {
		if c.Name == "" || seen[c.Name] || strings.ContainsAny(c.Name, " /") || c.New == nil {
			t.Errorf("candidate %q", c.Name)
		}
		seen[c.Name] = true
	}
}
