package wire_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/bidetest"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/wire"
)

// onVirtual calls f under a clock that stands until f moves it.
func onVirtual(f func(ctx context.Context, vc *clock.Virtual)) {
	bidetest.Bubble(new(testing.T), func(t *testing.T, _ context.Context) { f(bidetest.Virtual(t)) })
}

// The caller writes what is left, the callee reads it, and bounds it by what it grants anybody.
func ExampleInject() {
	onVirtual(func(ctx context.Context, vc *clock.Virtual) {
		message := http.Header{}
		_ = bide.FailAfter(ctx, 2*time.Second, func(ctx context.Context) error {
			vc.Advance(500 * time.Millisecond) // some work of its own
			wire.Inject(ctx, message)
			return nil
		})
		fmt.Println(message)

		const most = time.Minute
		d := most
		if asked, ok := wire.Extract(message); ok {
			d = min(asked, most)
		}
		_ = bide.FailAfter(ctx, d, func(ctx context.Context) error {
			fmt.Println("the callee has", bide.Remaining(ctx))
			return nil
		})
	})
	// Output:
	// map[Grpc-Timeout:[1500000u]]
	// the callee has 1.5s
}

// The smallest of the headers counts, and what is not understood does not.
func ExampleExtract() {
	before := wire.Ignored()
	d, ok := wire.Extract(http.Header{
		"Grpc-Timeout":                   {"10S"},
		"X-Envoy-Expected-Rq-Timeout-Ms": {"250"},
		"Request-Timeout":                {"tomorrow"},
	})
	fmt.Println(d, ok, "ignored:", wire.Ignored()-before)
	// Output: 250ms true ignored: 1
}

// For a peer that knows another header.
func ExampleHeader() {
	const left = 1999 * time.Millisecond
	message := http.Header{}
	wire.Put(message, left, wire.ConnectTimeout, wire.RequestTimeout)
	fmt.Println(message)

	fmt.Println(wire.GRPCTimeout.Format(left))
	fmt.Println(wire.GRPCTimeout.Parse("1999m"))
	// Output:
	// map[Connect-Timeout-Ms:[1999] Request-Timeout:[1]]
	// 1999000u
	// 1.999s true
}

// 20 ms are kept back for the answer, and with less than 100 ms the stock is not asked at all.
func ExampleBudget() {
	onVirtual(func(ctx context.Context, vc *clock.Virtual) {
		budget := wire.Budget{Slack: 20 * time.Millisecond, MinWork: 100 * time.Millisecond}
		err := bide.FailAfter(ctx, time.Second, func(ctx context.Context) error {
			for {
				d, err := budget.Next(ctx, "stock.example")
				if err != nil {
					return err
				}
				fmt.Println("the next hop gets", d)
				vc.Advance(450 * time.Millisecond)
			}
		})
		fmt.Println(err)
		var e *wire.BudgetError
		fmt.Println(errors.As(err, &e) && e.Hop == "stock.example", errors.Is(err, context.DeadlineExceeded))
	})
	// Output:
	// the next hop gets 980ms
	// the next hop gets 530ms
	// bide/wire: stock.example was not asked: 100ms left, 120ms needed
	// true true
}
