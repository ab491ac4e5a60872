// Bench measures what bide costs beside what programs do today: both sides in one process, turn by turn.
//
//	go run ./bench/cmd/bench [-quick] [-v] [-o raw.jsonl] [P1 P2 …]
//
// It prints a line for each row: its worst case, the figures, the target, and as the last word whether that is met. The
// exit status is about the measuring, never about the figures: 1 if a row could not run, 2 if it was called wrongly.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"bide.invalid/bide/bench/internal/pair"
	"bide.invalid/bide/bench/internal/rows"
)

const usage = `usage: bench [-quick] [-v] [-o raw.jsonl] [row …]

  -quick   short rounds; without names, only the rows of the quick form
  -v       every case of a row, not only the worst
  -o file  put the raw results into file, in the place of those rows' earlier ones

`

func main() { os.Exit(run(os.Args[1:], rows.All, os.Stdout, os.Stderr)) }

type options struct {
	quick, verbose bool
	out            string
	child          bool // measure the row that is named in this process, and print what was measured
	names          []string
}

func run(args []string, all []pair.Row, stdout, stderr io.Writer) int {
	o, err := parse(args, all, stderr)
	if err == flag.ErrHelp {
		return 0
	}
	if err != nil {
		return 2
	}
	picked, err := pair.Pick(all, o.quick, o.names)
	if err != nil {
		fmt.Fprintf(stderr, "bide bench: %v\n", err)
		return 2
	}
	plan := pair.Full
	if o.quick {
		plan = pair.Quick
	}
	if o.child {
		return child(picked[0], plan, stdout, stderr)
	}
	if o.out != "" {
		if _, err := pair.ReadFile(o.out); err != nil { // now, and not after minutes
			fmt.Fprintf(stderr, "bide bench: %v\n", err)
			return 2
		}
	}
	status := 0
	commit := pair.Commit()
	for _, row := range picked {
		if err := report(row, plan, commit, o, stdout); err != nil {
			fmt.Fprintf(stderr, "bide bench: %s could not run: %v\n", row.Name, err)
			status = 1
		}
	}
	return status
}

func parse(args []string, all []pair.Row, stderr io.Writer) (options, error) {
	var o options
	fs := flag.NewFlagSet("bench", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.BoolVar(&o.quick, "quick", false, "")
	fs.BoolVar(&o.verbose, "v", false, "")
	fs.StringVar(&o.out, "o", "", "")
	fs.BoolVar(&o.child, "child", false, "")
	fs.Usage = func() {
		fmt.Fprint(stderr, usage)
		for _, row := range all {
			quick := ""
			if row.Quick {
				quick = " (quick)"
			}
			fmt.Fprintf(stderr, "  %-4s %s%s\n", row.Name, row.Title, quick)
		}
	}
	err := fs.Parse(args)
	o.names = fs.Args()
	return o, err
}

// report measures a row and prints what it showed.
func report(row pair.Row, plan pair.Plan, commit string, o options, stdout io.Writer) error {
	m, err := spawn(row, plan)
	if err != nil {
		return err
	}
	verdicts, missing := row.Judge(m)
	for _, l := range missing {
		if l.Judged() { // the quick form may leave out what is only shown
			return fmt.Errorf("%s: no figures %s to compare", l.Case, l.Of.Name)
		}
	}
	if len(verdicts) == 0 {
		return errors.New("no figures to show")
	}
	fmt.Fprintln(stdout, row.Headline(verdicts))
	if o.verbose {
		fmt.Fprint(stdout, row.Table(verdicts))
	}
	if o.out == "" {
		return nil
	}
	return pair.Keep(o.out, row.Result(m, plan, commit, time.Now()))
}
