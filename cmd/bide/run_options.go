package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// runOptions is a command line of bide run.
type runOptions struct {
	help, preserve, verbose, foreground, report, left bool

	signal    syscall.Signal
	killAfter time.Duration // forever: never
	limit     time.Duration // forever: none
	command   []string
}

// A runOption is one of them, in its two spellings.
type runOption struct {
	short byte // 0: none
	long  string
	set   func(o *runOptions, value string) error
	takes string // what value is; empty if there is none
}

var runOptionTable = []runOption{
	{'s', "signal", func(o *runOptions, v string) (err error) {
		o.signal, err = parseSignal(v)
		return err
	}, "SIGNAL"},
	{'k', "kill-after", func(o *runOptions, v string) (err error) {
		o.killAfter, err = parseDuration(v)
		return err
	}, "DURATION"},
	{'p', "preserve-status", func(o *runOptions, _ string) error { o.preserve = true; return nil }, ""},
	{'f', "foreground", func(o *runOptions, _ string) error { o.foreground = true; return nil }, ""},
	{0, "left", func(o *runOptions, _ string) error { o.left = true; return nil }, ""},
	{0, "report", func(o *runOptions, v string) error {
		if o.report = v == "json"; !o.report {
			return fmt.Errorf("there is no report as %q: write --report=json", v)
		}
		return nil
	}, "json"},
	{'v', "verbose", func(o *runOptions, _ string) error { o.verbose = true; return nil }, ""},
	{'h', "help", func(o *runOptions, _ string) error { o.help = true; return nil }, ""},
}

// parseRun reads the command line as getopt does, with the options ending where the duration stands: letters may be
// joined, a long option may be shortened and has its value behind = or as the next argument.
func parseRun(args []string) (o runOptions, err error) {
	o = runOptions{signal: syscall.SIGTERM, killAfter: killAfterUser}
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		arg := args[0]
		args = args[1:]
		if arg == "--" {
			break
		}
		if long, ok := strings.CutPrefix(arg, "--"); ok {
			args, err = o.parseLong(long, args)
		} else {
			args, err = o.parseShort(arg[1:], args)
		}
		if err != nil || o.help {
			return o, err
		}
	}
	switch len(args) {
	case 0:
		return o, errors.New("no duration and no command are given: write bide run DURATION COMMAND, or bide run --help")
	case 1:
		return o, fmt.Errorf("no command is given: write bide run %s COMMAND, or bide run --help", args[0])
	}
	o.limit, err = parseDuration(args[0])
	o.command = args[1:]
	return o, err
}

func (o *runOptions) parseLong(arg string, args []string) ([]string, error) {
	name, value, has := strings.Cut(arg, "=")
	var found []runOption
	for _, opt := range runOptionTable {
		if opt.long == name {
			found = []runOption{opt}
			break
		}
		if strings.HasPrefix(opt.long, name) {
			found = append(found, opt)
		}
	}
	switch {
	case len(found) != 1:
		return args, unknownOption("--" + name)
	case found[0].takes == "" && has:
		return args, fmt.Errorf("--%s takes no value: write it without =", found[0].long)
	case found[0].takes != "" && !has:
		if len(args) == 0 {
			return args, fmt.Errorf("--%s has no value: write --%s=%s", found[0].long, found[0].long, found[0].takes)
		}
		value, args = args[0], args[1:]
	}
	return args, found[0].set(o, value)
}

func (o *runOptions) parseShort(letters string, args []string) ([]string, error) {
next:
	for i := range len(letters) {
		for _, opt := range runOptionTable {
			if opt.short != letters[i] || opt.short == 0 {
				continue
			}
			value := letters[i+1:]
			if opt.takes == "" {
				if err := opt.set(o, ""); err != nil || o.help {
					return args, err
				}
				continue next
			}
			if value == "" {
				if len(args) == 0 {
					return args, fmt.Errorf("-%c has no value: write -%c %s", opt.short, opt.short, opt.takes)
				}
				value, args = args[0], args[1:]
			}
			return args, opt.set(o, value)
		}
		return args, unknownOption("-" + letters[i:i+1])
	}
	return args, nil
}

func unknownOption(name string) error {
	return fmt.Errorf("%s is not an option: write -s, -k, -p, -f or -v, or bide run --help", name)
}

// parseDuration reads what GNU timeout reads, a number of seconds, or of another unit, and what Go reads. 0 is forever.
func parseDuration(s string) (time.Duration, error) {
	bad := fmt.Errorf("%q is not a duration: write 10, 1.5m or 1m30s", s)
	if d, err := time.ParseDuration(s); err == nil && s[0] != '-' {
		switch {
		case d > 0:
			return d, nil
		case strings.ContainsAny(s, "123456789"):
			return 1, nil // and not 0, which is for ever
		}
		return forever, nil
	}
	number, unit := s, 1.0
	n, err := parseNumber(number)
	if err != nil && s != "" {
		number = s[:len(s)-1]
		switch s[len(s)-1] {
		case 's':
		case 'm':
			unit = 60
		case 'h':
			unit = 60 * 60
		case 'd':
			unit = 24 * 60 * 60
		default:
			return 0, bad
		}
		n, err = parseNumber(number)
	}
	if err != nil || !(n >= 0) { // NaN too
		return 0, bad
	}
	ns := math.Ceil(n * unit * 1e9) // never early
	if ns == 0 || ns >= math.MaxInt64 {
		return forever, nil
	}
	return time.Duration(ns), nil
}

// parseNumber reads what strtod reads.
func parseNumber(s string) (float64, error) {
	s = strings.TrimLeft(s, " \t\n\v\f\r")
	if strings.Contains(s, "_") { // which Go allows
		return 0, strconv.ErrSyntax
	}
	if hex := strings.ToLower(strings.TrimLeft(s, "+-")); strings.HasPrefix(hex, "0x") && !strings.Contains(hex, "p") {
		s += "p0" // which Go requires
	}
	n, err := strconv.ParseFloat(s, 64)
	if errors.Is(err, strconv.ErrRange) {
		err = nil // infinite
	}
	underflow := strings.ContainsAny(mantissa(s), "123456789abcdefABCDEF")
	if n == 0 && underflow {
		n = math.SmallestNonzeroFloat64 // and not 0, which is for ever
	}
	return n, err
}

// mantissa is a number without its exponent.
func mantissa(s string) string {
	mark := "eE"
	if strings.ContainsAny(s, "xX") {
		mark = "pP"
	}
	if i := strings.IndexAny(s, mark); i >= 0 {
		return s[:i]
	}
	return s
}
