package syncs_test

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"testing"

	"bide.invalid/bide/syncs"
)

// BenchmarkP15Waits is a wait for any of several, none of which is ready when it begins: two goroutines, there and back.
func BenchmarkP15Waits(b *testing.B) {
	ctx := benchScope(b)
	for _, n := range []int{2, 8, 64} {
		b.Run(fmt.Sprintf("waitany/n=%d", n), func(b *testing.B) {
			thereAndBack(b, func() (wait func() bool, release func(more bool)) {
				events, all := make([]syncs.Event, n), make([]syncs.Waitable, n)
				for i := range all {
					all[i] = &events[i]
				}
				over := false
				wait = func() bool {
					_, _ = syncs.WaitAny(ctx, all...)
					events[n-1].Reset()
					return !over
				}
				return wait, func(more bool) { over = !more; events[n-1].Set() }
			})
		})
		b.Run(fmt.Sprintf("anchor-reflect-select/n=%d", n), func(b *testing.B) {
			thereAndBack(b, func() (wait func() bool, release func(more bool)) {
				cases := make([]reflect.SelectCase, n)
				for i := range cases {
					cases[i] = reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(make(chan struct{}))}
				}
				c := make(chan bool)
				cases[n-1].Chan = reflect.ValueOf(c)
				wait = func() bool {
					_, v, _ := reflect.Select(cases)
					return v.Bool()
				}
				return wait, func(more bool) { c <- more }
			})
		})
	}
	b.Run("anchor-select/n=2", func(b *testing.B) {
		thereAndBack(b, func() (wait func() bool, release func(more bool)) {
			c, never := make(chan bool), make(chan bool)
			wait = func() bool {
				select {
				case v := <-c:
					return v
				case <-never:
					return false
				}
			}
			return wait, func(more bool) { c <- more }
		})
	})
	b.Run("recv/n=2", func(b *testing.B) {
		thereAndBack(b, func() (wait func() bool, release func(more bool)) {
			c, v := make(chan bool), false
			all := []syncs.Waitable{new(syncs.Event), syncs.Recv(c, &v, nil)}
			wait = func() bool {
				_, _ = syncs.WaitAny(ctx, all...)
				return v
			}
			return wait, func(more bool) { c <- more }
		})
	})
	for _, n := range []int{2, 8, 64} {
		b.Run(fmt.Sprintf("waitall/n=%d", n), func(b *testing.B) {
			thereAndBack(b, func() (wait func() bool, release func(more bool)) {
				events, all := make([]syncs.Event, n), make([]syncs.Waitable, n)
				for i := range all {
					all[i] = &events[i]
				}
				over := false
				wait = func() bool {
					_ = syncs.WaitAll(ctx, all...)
					for i := range events {
						events[i].Reset()
					}
					return !over
				}
				return wait, func(more bool) {
					over = !more
					for i := range events {
						events[i].Set()
					}
				}
			})
		})
	}
}

// thereAndBack has two goroutines release each other, each in its own wait.
func thereAndBack(b *testing.B, make func() (wait func() bool, release func(more bool))) {
	ping, releasePing := make()
	pong, releasePong := make()
	over := new(sync.WaitGroup)
	over.Go(func() {
		for pong() {
			releasePing(true)
		}
	})
	b.ReportAllocs()
	for b.Loop() {
		releasePong(true)
		ping()
	}
	releasePong(false)
	over.Wait()
}

// BenchmarkWaitGroup is counting, by one and by several, and a round of goroutines that are waited for.
func BenchmarkWaitGroup(b *testing.B) {
	bg := context.Background()
	type group interface {
		Add(int)
		Done()
		Go(func())
	}
	for _, x := range []struct {
		name string
		make func() (g group, wait func())
	}{
		{"ours", func() (group, func()) {
			g := new(syncs.WaitGroup)
			return g, func() { _ = g.Wait(bg) }
		}},
		{"anchor-sync", func() (group, func()) {
			g := new(sync.WaitGroup)
			return g, g.Wait
		}},
	} {
		b.Run("alone/"+x.name, func(b *testing.B) {
			g, _ := x.make()
			for b.Loop() {
				g.Add(1)
				g.Done()
			}
		})
		b.Run("parallel/"+x.name, func(b *testing.B) {
			g, _ := x.make()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					g.Add(1)
					g.Done()
				}
			})
		})
		for _, n := range []int{1, 10, 100} {
			b.Run(fmt.Sprintf("go/n=%d/%s", n, x.name), func(b *testing.B) {
				b.ReportAllocs()
				g, wait := x.make()
				for b.Loop() {
					for range n {
						g.Go(func() {})
					}
					wait()
				}
			})
		}
	}
}

// BenchmarkAutoEvent is one signal, alone and there and back, beside a channel with room for one.
func BenchmarkAutoEvent(b *testing.B) {
	bg := context.Background()
	b.Run("alone/ours", func(b *testing.B) {
		var e syncs.AutoEvent
		for b.Loop() {
			e.Set()
			_ = e.Wait(bg)
		}
	})
	b.Run("alone/anchor-channel", func(b *testing.B) {
		c := make(chan struct{}, 1)
		for b.Loop() {
			select {
			case c <- struct{}{}:
			default:
			}
			<-c
		}
	})
	b.Run("there-and-back/ours", func(b *testing.B) {
		thereAndBack(b, func() (wait func() bool, release func(more bool)) {
			var e syncs.AutoEvent
			over := false
			wait = func() bool { _ = e.Wait(bg); return !over }
			return wait, func(more bool) { over = !more; e.Set() }
		})
	})
	b.Run("there-and-back/anchor-channel", func(b *testing.B) {
		thereAndBack(b, func() (wait func() bool, release func(more bool)) {
			c := make(chan bool, 1)
			wait = func() bool { return <-c }
			return wait, func(more bool) {
				select {
				case c <- more:
				default:
				}
			}
		})
	})
}
