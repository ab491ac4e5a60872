// Soak keeps tens of thousands of idle timeouts in one process for minutes: they are pushed back at random, some expire
// and are started anew. It prints a table, and compares its first third with its last.
//
//	go run ./bench/cmd/soak [-d 5m] [-n 50000] [-seed 1]
//
// The exit status is 1 if memory or lateness has grown, if a timeout came early, or if something was left behind when all
// connections were closed; 2 if it was called wrongly.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"bide.invalid/bide/bench/internal/pair"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

const usage = `usage: soak [-d 5m] [-n 50000] [-seed 1]

  -d       how long, at least a second
  -n       connections
  -seed    of the order in which they are used
`

func run(args []string, stdout, stderr io.Writer) int {
	var p plan
	fs := flag.NewFlagSet("soak", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.Usage = func() { fmt.Fprint(stderr, usage) }
	fs.DurationVar(&p.length, "d", 5*time.Minute, "")
	fs.IntVar(&p.conns, "n", 50_000, "")
	fs.Uint64Var(&p.seed, "seed", 1, "")
	err := fs.Parse(args)
	switch {
	case err == flag.ErrHelp:
		return 0
	case err != nil:
		return 2
	case fs.NArg() > 0:
		err = fmt.Errorf("no argument is wanted, %q is given", fs.Args())
	case p.length < time.Second:
		err = fmt.Errorf("-d %v: at least a second is wanted", p.length)
	case p.conns < 1:
		err = fmt.Errorf("-n %d: at least one connection is wanted", p.conns)
	}
	if err != nil {
		fmt.Fprintf(stderr, "bide soak: %v\n", err)
		return 2
	}
	const columns = "%8s  %9s  %9s  %9s  %9s  %9s  %9s  %9s  %8s  %10s\n"
	fmt.Fprintf(stdout, "%d connections, idle for %v at most, give or take half; seed %d\n", p.conns, p.limit(), p.seed)
	fmt.Fprintf(stdout, columns, "after", "pushed", "expired", "late p50", "late p99", "worst", "heap", "system", "pending", "goroutines")
	all, wrong := p.run(func(r row) {
		late := func(percent float64) string {
			if r.expired == 0 {
				return "-"
			}
			return pair.Ns.Short(r.late[pair.Late(percent)])
		}
		fmt.Fprintf(stdout, columns, r.at.Round(100*time.Millisecond), fmt.Sprint(r.pushed), fmt.Sprint(r.expired),
			late(50), late(99), late(100), megabytes(float64(r.heap)), megabytes(float64(r.taken)), fmt.Sprint(r.pending), fmt.Sprint(r.goroutines))
	})
	wrong = append(wrong, p.compare(all)...)
	for _, w := range wrong {
		fmt.Fprintf(stderr, "bide soak: %s\n", w)
	}
	if len(wrong) > 0 {
		return 1
	}
	fmt.Fprintln(stdout, "the last third is like the first, and nothing is left behind")
	return 0
}
