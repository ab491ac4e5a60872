package syncs_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/syncs"
)

// A Config is read by every request, and replaced now and then.
type Config struct {
	mu     syncs.RWMutex
	values map[string]string
}

// Get reads one value, if it can within the bound of ctx.
func (c *Config) Get(ctx context.Context, key string) (string, error) {
	if err := c.mu.RLock(ctx); err != nil {
		return "", err
	}
	defer c.mu.RUnlock()
	return c.values[key], nil
}

// Replace puts others in the place of all values.
func (c *Config) Replace(ctx context.Context, values map[string]string) error {
	if err := c.mu.Lock(ctx); err != nil {
		return err
	}
	defer c.mu.Unlock()
	c.values = values
	return nil
}

// A reader that is slow keeps a writer waiting, and the writer the readers behind it; but not for longer than it is
// willing to wait itself.
func ExampleRWMutex() {
	ctx := context.Background()
	var c Config
	fmt.Println(c.Replace(ctx, map[string]string{"color": "green"}))

	_ = c.mu.RLock(ctx) // a report that takes long
	err := bide.FailAfter(ctx, 5*time.Millisecond, func(ctx context.Context) error {
		return c.Replace(ctx, map[string]string{"color": "red"})
	})
	fmt.Println("replaced:", !errors.Is(err, context.DeadlineExceeded))
	fmt.Println(c.Get(ctx, "color"))
	c.mu.RUnlock()

	// Output:
	// <nil>
	// replaced: false
	// green <nil>
}
