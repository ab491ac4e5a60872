package rows

import (
	"context"
	"time"

	"bide.invalid/bide/bench/internal/pair"
)

// A side is what one does once, under the name that it is recorded by.
type side struct {
	name string
	once func()
}

// turns gives each side its turn of this round.
func turns(r *pair.Run, sides []side, at string) {
	for _, s := range sides {
		r.Op(s.name+at, func(n int) {
			for range n {
				s.once()
			}
		})
	}
}

// What is done inside of a bound.
func idle(context.Context) error     { return nil }
func look(ctx context.Context) error { return ctx.Err() }
func done(ctx context.Context) error { ctx.Done(); return nil }
func child(ctx context.Context) error {
	_, cancel := context.WithCancel(ctx)
	cancel()
	return nil
}
func childBelowValue(ctx context.Context) error { return child(context.WithValue(ctx, key{}, 1)) }

type key struct{}

// bounded is bide.FailAfter as users write it today.
func bounded(ctx context.Context, f func(context.Context) error) error {
	return boundedBy(ctx, time.Hour, f)
}

func boundedBy(ctx context.Context, d time.Duration, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, d)
	err := f(ctx)
	cancel()
	return err
}
