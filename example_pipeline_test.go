package bide_test

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"bide.invalid/bide"
	"bide.invalid/bide/syncs"
)

// digest sends the paths through three workers, and collects what comes of them.
func digest(ctx context.Context, paths []string, sum func(string) (int, error)) (sums []int, err error) {
	jobs, results := syncs.NewQueue[string](1), syncs.NewQueue[int](1)
	err = bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
		n.Go(func(ctx context.Context) error {
			defer jobs.Close() // the workers get what is in it, and then ErrClosed
			for _, path := range paths {
				if err := jobs.Put(ctx, path); err != nil {
					return err
				}
			}
			return nil
		})
		n.Go(func(ctx context.Context) error {
			defer results.Close()
			return bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
				for range 3 {
					n.Go(func(ctx context.Context) error { return work(ctx, jobs, results, sum) })
				}
				return nil
			})
		})
		for {
			s, err := results.Get(ctx)
			if errors.Is(err, syncs.ErrClosed) {
				return nil
			}
			if err != nil {
				return err
			}
			sums = append(sums, s)
		}
	})
	slices.Sort(sums)
	return sums, err
}

func work(ctx context.Context, jobs *syncs.Queue[string], results *syncs.Queue[int], sum func(string) (int, error)) error {
	for {
		path, err := jobs.Get(ctx)
		if errors.Is(err, syncs.ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		s, err := sum(path)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if err := results.Put(ctx, s); err != nil {
			return err
		}
	}
}

// A pipeline: a stage that fails ends the others, whoever waits for whom, and its error comes out.
func Example_pipeline() {
	paths := []string{"a", "bb", "ccc", "dddd", "eeeee"}
	fmt.Println(digest(context.Background(), paths, func(path string) (int, error) { return len(path), nil }))

	_, err := digest(context.Background(), paths, func(path string) (int, error) {
		if path == "ccc" {
			return 0, errors.New("no such file")
		}
		return len(path), nil
	})
	fmt.Println(err)
	// Output:
	// [1 2 3 4 5] <nil>
	// ccc: no such file
}
