package bide_test

import (
	"context"
	"os"
	"testing"
	"time"

	"bide.invalid/bide"
)

func TestMisuseStopOptions(t *testing.T) {
	for name, opt := range map[string]bide.Option{"Grace": bide.Grace(time.Second), "Signals": bide.Signals(os.Interrupt), "Stacks": bide.Stacks()} {
		for _, call := range takers {
			do := func() { call.call(context.Background(), opt, bide.Name("x")) }
			if name == "Stacks" && call.uses != "" {
				if v := panicOf(do); v != nil {
					t.Errorf("%s with %s: %v", call.name, name, v)
				}
				continue
			}
			panicsWith(t, "bide: "+call.name+" has no use for "+name, do)
		}
	}
	panicsWith(t, "bide: Signals: none is given", func() { bide.Signals() })
}

// What Main refuses it refuses before it has done anything.
func TestMisuseMain(t *testing.T) {
	panicsWith(t, "bide: Main: nil function", func() { bide.Main(nil) })
	for name, opt := range map[string]bide.Option{
		"Timeout": bide.Timeout(time.Hour), "MoveOn": bide.MoveOn(), "Limit": bide.Limit(1), "Abandon": bide.Abandon(), "Stacks": bide.Stacks(),
	} {
		panicsWith(t, "bide: Main has no use for "+name, func() { bide.Main(fine, opt) })
	}
}
