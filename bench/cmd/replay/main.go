// Command replay does what a program did with its timers again, on every queue of timer/queue, and compares them. It
// also makes traces of three kinds of program.
//
//	replay [-sleeps file] trace
//	replay -gen requests|idle|sleeps [-n timers] [-seed number] file
//
// A trace is what timer/queue's trace.go describes. With -sleeps there are two, of one program: the first are its
// timeouts, the second its sleeps; beside one queue for both, one queue for each is tried.
//
// Time is virtual. Between two operations a driver wakes when Next says so, and takes out what is due; before an
// operation it tells the queue the time, as an event loop would that reads the clock once.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

const usage = `usage: replay [-sleeps file] trace
       replay -gen requests|idle|sleeps [-n timers] [-seed number] file

The first replays a trace of timers on every queue; with -sleeps, another
trace of the same program, also on one queue for each of the two. The
second makes a trace.
`

// Exit statuses.
const (
	done    = 0
	failed  = 1
	misused = 2
)

// run is the command.
func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("replay", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	gen := flags.String("gen", "", "")
	n := flags.Int("n", 100_000, "")
	seed := flags.Uint64("seed", 1, "")
	sleeps := flags.String("sleeps", "", "")
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, usage)
		return done
	case err != nil:
	case flags.NArg() != 1:
		err = fmt.Errorf("one file is wanted, %d are given", flags.NArg())
	case *gen != "" && *sleeps != "":
		err = errors.New("-gen makes one trace, and has no use for -sleeps")
	case *gen == "" && (given(flags, "n") || given(flags, "seed")):
		err = errors.New("-n and -seed are for -gen")
	case *gen != "" && generators[*gen] == nil:
		err = fmt.Errorf("-gen %s: there are requests, idle and sleeps", *gen)
	case *gen != "" && (*n < 1 || *n > maxTimers):
		err = fmt.Errorf("-n %d: from 1 to %d", *n, maxTimers)
	}
	if err != nil {
		fmt.Fprintf(stderr, "replay: %v\n%s", err, usage)
		return misused
	}
	if *gen != "" {
		if err := generate(*gen, *n, *seed, flags.Arg(0)); err != nil {
			fmt.Fprintf(stderr, "replay: %v\n", err)
			return failed
		}
		return done
	}
	var t trace
	if err := t.add(timeout, flags.Arg(0)); err != nil {
		fmt.Fprintf(stderr, "replay: %v\n", err)
		return misused
	}
	if *sleeps != "" {
		if err := t.add(sleep, *sleeps); err != nil {
			fmt.Fprintf(stderr, "replay: %v\n", err)
			return misused
		}
	}
	report(stdout, &t)
	return done
}

func given(flags *flag.FlagSet, name string) (found bool) {
	flags.Visit(func(f *flag.Flag) { found = found || f.Name == name })
	return found
}
