// Plots makes docs/benchmarks from the raw results in docs/benchmarks/raw.jsonl. It is run at the top of the checkout.
package main

import (
	"fmt"
	"os"

	"bide.invalid/bide/bench/internal/plots"
	"bide.invalid/bide/bench/internal/rows"
)

func main() {
	if err := plots.Draw(".", rows.All); err != nil {
		fmt.Fprintf(os.Stderr, "bide plots: %v\n", err)
		os.Exit(1)
	}
}
