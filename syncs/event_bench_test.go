package syncs_test

import (
	"context"
	"fmt"
	"reflect"
	"testing"

	"bide.invalid/bide/syncs"
)

// A pinger waits once, and is released once, again and again.
type pinger interface {
	wait(ctx context.Context) bool // and makes itself ready for the next round
	release()
	stop()
}

type eventPinger struct {
	e    syncs.Event
	over bool // written before release
}

func (p *eventPinger) wait(ctx context.Context) bool {
	err := p.e.Wait(ctx)
	p.e.Reset()
	return err == nil && !p.over
}
func (p *eventPinger) release() { p.e.Set() }
func (p *eventPinger) stop()    { p.over = true; p.e.Set() }

// futurePinger uses two futures by turns: a future is made anew only after the other side has done its next wait, and
// so has left Set.
type futurePinger struct {
	f          [2]syncs.Future[bool]
	waits, set int
}

func (p *futurePinger) wait(ctx context.Context) bool {
	ok, err := p.f[p.waits%2].Wait(ctx)
	p.waits++
	p.f[p.waits%2] = syncs.Future[bool]{}
	return err == nil && ok
}
func (p *futurePinger) release() { p.complete(true) }
func (p *futurePinger) stop()    { p.complete(false) }
func (p *futurePinger) complete(ok bool) {
	f := &p.f[p.set%2]
	p.set++
	f.Set(ok)
}

type chanPinger chan struct{}

func (p chanPinger) wait(context.Context) bool { _, ok := <-p; return ok }
func (p chanPinger) release()                  { p <- struct{}{} }
func (p chanPinger) stop()                     { close(p) }

type selectPinger struct{ chanPinger }

func (p selectPinger) wait(ctx context.Context) bool {
	select {
	case _, ok := <-p.chanPinger:
		return ok
	case <-ctx.Done():
		return false
	}
}

// BenchmarkP12 is the round trip of two bounded waits of two goroutines; with park's waiters it is in package park.
func BenchmarkP12(b *testing.B) {
	for _, r := range []struct {
		name string
		make func() pinger
	}{
		{"event", func() pinger { return new(eventPinger) }},
		{"future", func() pinger { return new(futurePinger) }},
		{"anchor-channel", func() pinger { return make(chanPinger) }},
		{"anchor-select-done", func() pinger { return selectPinger{make(chanPinger)} }},
	} {
		for _, c := range []struct {
			name string
			ctx  func(b *testing.B) context.Context
		}{
			{"background", func(*testing.B) context.Context { return context.Background() }},
			{"scope", benchScope},
			{"below-std", func(b *testing.B) context.Context { return open(b, benchStd(b)) }},
			{"std", benchStd},
		} {
			b.Run(r.name+"/"+c.name, func(b *testing.B) {
				ctx := c.ctx(b)
				ping, pong, over := r.make(), r.make(), make(chan struct{})
				go func() {
					defer close(over)
					for pong.wait(ctx) {
						ping.release()
					}
				}()
				b.ReportAllocs()
				for b.Loop() {
					pong.release()
					ping.wait(ctx)
				}
				pong.stop()
				<-over
			})
		}
	}
}

// BenchmarkP15 is one value handed over, ready when it is asked for; and a wait for any of several, the last of which is
// ready.
func BenchmarkP15(b *testing.B) {
	ctx := benchScope(b)
	b.Run("future", func(b *testing.B) {
		var f syncs.Future[int]
		b.ReportAllocs()
		for b.Loop() {
			f = syncs.Future[int]{}
			f.Set(1)
			_, _ = f.Wait(ctx)
		}
	})
	b.Run("anchor-channel", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			c := make(chan int, 1)
			c <- 1
			close(c)
			<-c
		}
	})
	for _, n := range []int{2, 8, 64} {
		b.Run(fmt.Sprintf("waitany/n=%d", n), func(b *testing.B) {
			events, all := make([]syncs.Event, n), make([]syncs.Waitable, n)
			for i := range all {
				all[i] = &events[i]
			}
			events[n-1].Set()
			b.ReportAllocs()
			for b.Loop() {
				_, _ = syncs.WaitAny(ctx, all...)
			}
		})
		b.Run(fmt.Sprintf("anchor-reflect-select/n=%d", n), func(b *testing.B) {
			cases := make([]reflect.SelectCase, n)
			for i := range cases {
				cases[i] = reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(make(chan struct{}))}
			}
			ready := make(chan struct{})
			close(ready)
			cases[n-1].Chan = reflect.ValueOf(ready)
			b.ReportAllocs()
			for b.Loop() {
				reflect.Select(cases)
			}
		})
	}
}
