// Command bide brings the library to the command line: bide run bounds a command and all that comes from it, bide left
// says how much of the bound is left, bide tour shows what the library does. bide help has the rest.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == childArg {
		playedByChild(os.Args[2:])
	}
	os.Exit(run(commands(), os.Args[1:], os.Stdout, os.Stderr))
}

// Exit codes.
const (
	exitKept = iota
	exitBroken
	exitUsage
)

// A command is a first argument of bide. Its run gets the arguments that follow, answers -h, and returns the exit code.
type command struct {
	name string
	does string // in the list of commands
	run  func(args []string, stdout, stderr io.Writer) int
}

func commands() []command {
	return []command{
		{"run", "run a command with a time limit, and end all that comes from it", runCommand},
		{"left", "print how many seconds are left until the deadline that was inherited", leftCommand},
		{"tour", "watch promises about time being kept, in a few seconds", tour{scenes(), tourLimit}.run},
	}
}

// run finds the command and runs it.
func run(commands []command, args []string, stdout, stderr io.Writer) int {
	var names []string
	for _, c := range commands {
		names = append(names, c.name)
	}
	names = append(names, "help")
	if len(args) == 0 {
		return misused(stderr, "bide", "no command is given: write "+either(names))
	}
	name, args := args[0], args[1:]
	switch name {
	case "help", "-h", "-help", "--help":
		if len(args) == 0 || args[0] == "help" {
			help(stdout, commands)
			return exitKept
		}
		name, args = args[0], []string{"-h"}
	}
	for _, c := range commands {
		if c.name == name {
			return c.run(args, stdout, stderr)
		}
	}
	return misused(stderr, "bide", fmt.Sprintf("%q is not a command: write %s", name, either(names)))
}

func help(w io.Writer, commands []command) {
	fmt.Fprint(w, "bide: timeouts and cancellation that compose\n\nusage: bide COMMAND [ARGUMENT...]\n\n")
	for _, c := range commands {
		fmt.Fprintf(w, "  %-6s %s\n", c.name, c.does)
	}
	fmt.Fprint(w, `  help   this text, or that of a command: bide help tour

exit code: 0 all went well, 1 it did not, 2 the command line was not understood; that of bide run
is the command's, and 124 to 127 as with GNU timeout
`)
}

// parse reads a command's options; text is what -h prints. If that, or a mistake, leaves nothing to do, done is true.
func parse(fs *flag.FlagSet, text string, args []string, stdout, stderr io.Writer) (code int, done bool) {
	fs.SetOutput(io.Discard) // its messages do not say what to do
	err := fs.Parse(args)
	switch {
	case err == nil:
		return exitKept, false
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, text)
		return exitKept, true
	}
	return misused(stderr, fs.Name(), fmt.Sprintf("%v: write %s -h", err, fs.Name())), true
}

// misused says what is wrong with the command line, and what to write.
func misused(stderr io.Writer, program, text string) int {
	fmt.Fprintf(stderr, "%s: %s\n", program, text)
	return exitUsage
}

// either lists words: a, b or c.
func either(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
