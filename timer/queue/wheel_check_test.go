package queue

import (
	"fmt"
	"math/bits"

	"bide.invalid/bide/clock"
)

// checkWheel recomputes, slot by slot, what the wheel's comment claims: W1, W2, W3, the bitmaps, the rings, the
// count, what Cover relies on, and get-min. due is the deadline that an entry was linked for.
func checkWheel[T any](w *Wheel[T], due func(*Node[T]) clock.Instant) error {
	count, last := 0, w.base
	var full [levels]uint64
	for i, head := range w.slots {
		if head == nil {
			continue
		}
		l, s := i/width, int64(i%width)
		at := uint(l * digit)
		start := w.base // of an overdue slot
		if i < overdue {
			full[l] |= 1 << s
			start = (w.base>>at>>digit<<digit | s) << at
			switch own := w.base >> at & (width - 1); {
			case i == int(w.open):
				if start != w.base {
					return fmt.Errorf("slot %d of level %d is open, but base %d is not its first tick", s, l, w.base)
				}
			case s <= own:
				return fmt.Errorf("W1: slot %d of level %d is not after base's, %d", s, l, own)
			case start <= last:
				return fmt.Errorf("W2, W3: slot %d of level %d begins at %d, not after %d", s, l, start, last)
			default:
				last = start
			}
		}
		for e, prev := head, head.prev; ; e, prev = e.next, e {
			if count++; count > w.count {
				return fmt.Errorf("more entries than %d, or a broken ring in slot %d", w.count, i)
			}
			t, covered := w.tick(due(e)), clock.Instant(e.at.Load())
			switch {
			case e.prev != prev || int(e.place) != i:
				return fmt.Errorf("entry of slot %d: claims slot %d, or has a wrong link", i, e.place)
			case i == overdue && (covered != 1 || t > w.base):
				return fmt.Errorf("overdue: at %d, tick %d, base %d", covered, t, w.base)
			case i < overdue && t>>at != start>>at:
				return fmt.Errorf("tick %d is in the slot of %d, level %d", t, start, l)
			case i < overdue && !(i == int(w.open) && covered == 1) && (w.tick(covered) != start || w.tick(covered-1) >= start && start > 1):
				return fmt.Errorf("at %d is not the first deadline of the look at %d", covered, start)
			}
			if e.next == head {
				break
			}
		}
	}
	if count != w.count {
		return fmt.Errorf("count %d, but %d entries", w.count, count)
	}
	return checkBitmaps(w, full)
}

func checkBitmaps[T any](w *Wheel[T], full [levels]uint64) error {
	var some uint16
	want, any := int64(0), false // get-min, the long way
	for l := levels - 1; l >= 0; l-- {
		if full[l] != 0 {
			some |= 1 << l
			want, any = (w.base>>(l*digit)>>digit<<digit|int64(bits.TrailingZeros64(full[l])))<<(l*digit), true
		}
	}
	if full != w.full || some != w.some {
		return fmt.Errorf("bitmaps %x %b, want %x %b", w.full, w.some, full, some)
	}
	if w.slots[overdue] != nil || w.slots[w.open] != nil {
		want, any = w.base, true
	}
	if t, ok := w.next(); ok != any || ok && t != want {
		return fmt.Errorf("next is %d, %v; want %d, %v", t, ok, want, any)
	}
	return nil
}

// ref is the naive reference of a wheel: what is linked, each with the tick at which it is to be looked at for good
// (its deadline rounded up, or base if that has passed), in the order in which it was linked.
type ref []linkedRef

type linkedRef struct {
	id   int
	tick int64
}

func (r *ref) link(id int, tick int64) {
	i := len(*r)
	for i > 0 && (*r)[i-1].tick > tick {
		i--
	}
	*r = append(*r, linkedRef{})
	copy((*r)[i+1:], (*r)[i:])
	(*r)[i] = linkedRef{id, tick}
}

func (r *ref) unlink(id int) {
	for i, e := range *r {
		if e.id == id {
			*r = append((*r)[:i:i], (*r)[i+1:]...)
			return
		}
	}
}

// expire takes out what is due by now, at most limit.
func (r *ref) expire(now int64, limit int) (fired []linkedRef) {
	n := 0
	for n < len(*r) && n < limit && (*r)[n].tick <= now {
		n++
	}
	fired, *r = (*r)[:n:n], (*r)[n:]
	return fired
}

// expire empties w as a driver does, and returns what was due in order; more than limit stay. An entry that is looked
// at too early is linked again.
func expire(w *Wheel[int], now int64, limit int, who func(*Node[int]) (id int, due clock.Instant)) (fired []linkedRef, err error) {
	for looks := 0; len(fired) < limit; looks++ {
		if looks > 20*(w.count+len(fired)+1) {
			return nil, fmt.Errorf("%d looks at %d entries", looks, w.count)
		}
		e, look := w.pop(now)
		if e == nil {
			if w.base < now {
				return nil, fmt.Errorf("nothing is left at %d, but base is %d", now, w.base)
			}
			return fired, nil
		}
		id, due := who(e)
		switch {
		case e.at.Load() != 0 || e.next != nil:
			return nil, fmt.Errorf("entry %d is popped and still linked", id)
		case look > now && look > w.base:
			return nil, fmt.Errorf("look at %d, but it is %d", look, now)
		case w.instant(look) >= due:
			fired = append(fired, linkedRef{id, look})
		default:
			w.Link(e, due)
		}
	}
	return fired, nil
}
