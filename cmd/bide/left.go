package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"bide.invalid/bide/wire"
)

const leftHelp = `usage: bide left

Prints the seconds that are left until the deadline that was inherited, from bide run or from a
program that uses the library: 4.997. It is 0.001 if the deadline has passed, since 0 is no limit
to most programs. Without a deadline it prints nothing.

  t=$(bide left || :); curl ${t:+--max-time "$t"} https://example.org

exit code: 0 there is a deadline, 1 there is none, or it could not be printed, 2 the command line
was not understood
`

// leftCommand is bide left.
func leftCommand(args []string, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("bide left", flag.ContinueOnError)
	if code, done := parse(fs, leftHelp, args, stdout, stderr); done {
		return code
	}
	if fs.NArg() > 0 {
		return misused(stderr, fs.Name(), fmt.Sprintf("it takes no argument, and %q is one: write bide left", fs.Arg(0)))
	}
	value, ok := os.LookupEnv(wire.EnvDeadline)
	if !ok {
		return exitBroken
	}
	left, err := wire.Parse(value)
	if err != nil {
		fmt.Fprintf(stderr, "%s: warning: the inherited deadline is ignored: %v\n", fs.Name(), err)
		return exitBroken
	}
	if _, err := fmt.Fprintln(stdout, seconds(left)); err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", fs.Name(), err)
		return exitBroken
	}
	return exitKept
}

// seconds is d with three digits, rounded down: nobody is to wait longer. It is never 0, which were no limit.
func seconds(d time.Duration) string {
	ms := max(1, d.Milliseconds())
	return strconv.FormatInt(ms/1000, 10) + "." + fmt.Sprintf("%03d", ms%1000)
}
