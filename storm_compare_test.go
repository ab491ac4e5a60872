package bide_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing/synctest"

	"bide.invalid/bide"
)

// flatten lists the leaves of an error, as the parts of the model.
func flatten(err error) (leaves []string) {
	if err == nil {
		return nil
	}
	if reflect.TypeOf(err) == reflect.TypeOf(errors.Join(boom)) {
		for _, e := range err.(interface{ Unwrap() []error }).Unwrap() {
			leaves = append(leaves, flatten(e)...)
		}
		return leaves
	}
	text := err.Error()
	if e := new(bide.TimeoutError); errors.As(err, &e) {
		text = fmt.Sprintf("timeout %s %d", e.Scope, e.Limit)
		if e.Cut != nil {
			text = "cut " + e.Scope
		}
	} else if e := new(bide.Canceled); errors.As(err, &e) {
		text = "C " + e.Source.String()
	}
	return []string{text}
}

func texts(parts []part) (all []string) {
	for _, p := range parts {
		all = append(all, p.text)
	}
	return all
}

// compare compares what a scope, or a context below, says of itself with the model.
func (s *storm) compare(a *actor, err error) {
	e := a.cause()
	if e == nil {
		if err != nil {
			s.differ("%s: %v, want live", a.name, err)
		}
		return
	}
	want := "C " + e.source.String()
	if a.std && (a.alien() || e.source == bide.ByAbandoned) {
		want = context.Canceled.Error() // the other kind knows nothing else
	}
	got := flatten(err)
	if len(got) != 1 || !a.undetermined() && got[0] != want {
		s.differ("%s: %q, want %q", a.name, got, want)
	}
}

// look asks a what it says of itself, one thing first.
func (s *storm) look(a *actor, first int) {
	if a.without {
		return
	}
	asks := []func(){
		func() { s.compare(a, bide.Check(a.ctx)) },
		func() {
			err := a.ctx.Err()
			if (err != nil) != (a.cause() != nil) {
				s.differ("%s: Err is %v, want %+v", a.name, err, a.cause())
			}
			if e := a.cause(); err != nil && e != nil && !a.undetermined() {
				if d := e.source == bide.ByDeadline || e.source == bide.ByIdle; d != (err == context.DeadlineExceeded) {
					s.differ("%s: Err is %v, source %v", a.name, err, e.source)
				}
			}
		},
		func() {
			if a.s != nil {
				s.compare(a, a.s.Cause())
			}
		},
		func() {
			if got, want := bide.Remaining(a.ctx), s.remaining(a.node); got != want && !a.std {
				s.differ("%s: remaining %d, want %d", a.name, got, want)
			}
		},
		func() {
			if cause := context.Cause(a.ctx); (cause != nil) != (a.cause() != nil) && a.ctx.Err() != nil {
				s.differ("%s: context.Cause is %v", a.name, cause)
			}
		},
	}
	for i := range asks {
		asks[(first+i)%len(asks)]()
		if first%2 == 0 {
			break
		}
	}
	if a.s != nil && first%2 != 0 && a.s.CancelCalled() != a.called && !a.undetermined() {
		s.differ("%s: CancelCalled is %v, want %v", a.name, a.s.CancelCalled(), a.called)
	}
	synctest.Wait()
}

// passive compares what can be seen without looking at a scope.
func (s *storm) passive() {
	synctest.Wait()
	for _, a := range s.actors {
		dead := a.cause() != nil
		for _, r := range a.waits {
			if r.ended != dead {
				s.differ("%s: a wait has ended: %v; want %+v", a.name, r.ended, a.cause())
			} else if dead {
				s.compare(a, r.err)
			}
		}
		for _, c := range a.watches {
			if isClosed(c) != dead {
				s.differ("%s: Done, or an AfterFunc, has come: %v; want %+v", a.name, isClosed(c), a.cause())
			}
		}
		if a.drain != nil && isClosed(a.drain) != a.draining() {
			s.differ("%s: draining: %v, want %v", a.name, isClosed(a.drain), a.draining())
		}
	}
}
