package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestParseDuration(t *testing.T) {
	for s, want := range map[string]time.Duration{
		"10": 10 * time.Second, "1.5m": 90 * time.Second, "2d": 48 * time.Hour, "1m30s": 90 * time.Second, "0": forever,
		"0s": forever, "0d": forever, "1h": time.Hour, ".5": time.Second / 2, "5.": 5 * time.Second, "+3": 3 * time.Second,
		" 3": 3 * time.Second, "1e3": 1000 * time.Second, "0x10": 16 * time.Second, "0x1d": 29 * time.Second,
		"0x1p4": 16 * time.Second, "inf": forever, "Infinity": forever, "1e400": forever, "1e-12": 1, "1e-9999": 1,
		"0e5": forever, "0ms": forever, "0m0s": forever, "0.0000001ms": 1, "0x0": forever, "1ns": 1, "100ms": 100 * time.Millisecond, "0.0000000011": 2,
		"9223372036": 9223372036 * time.Second, "9223372037": forever, "1000000000000000d": forever,
	} {
		if got, err := parseDuration(s); err != nil || got != want {
			t.Errorf("%q: %v, %v, want %v", s, got, err, want)
		}
	}
	for _, s := range []string{"", "abc", "s", "1x", "1ss", "-1", "-1s", "-1m30s", "nan", "1_0", "1 ", "1m 30s", "0x", "--", "1e", "1,5"} {
		got, err := parseDuration(s)
		if want := `"` + s + `" is not a duration: write 10, 1.5m or 1m30s`; err == nil || err.Error() != want {
			t.Errorf("%q: %v, %v", s, got, err)
		}
	}
}

func TestParseRun(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"", "no duration and no command are given: write bide run DURATION COMMAND, or bide run --help"},
		{"5", "no command is given: write bide run 5 COMMAND, or bide run --help"},
		{"abc true", `"abc" is not a duration: write 10, 1.5m or 1m30s`},
		{"-k abc 5 true", `"abc" is not a duration: write 10, 1.5m or 1m30s`},
		{"-s", "-s has no value: write -s SIGNAL"},
		{"--kill-after", "--kill-after has no value: write --kill-after=DURATION"},
		{"-s NOSUCH 5 true", `"NOSUCH" is not a signal: write TERM`},
		{"-x 5 true", "-x is not an option: write -s, -k, -p, -f or -v, or bide run --help"},
		{"-vx 5 true", "-x is not an option"},
		{"--nosuch 5 true", "--nosuch is not an option"},
		{"--verbose=1 5 true", "--verbose takes no value: write it without ="},
		{"--foreground=1 5 true", "--foreground takes no value: write it without ="},
		{"--report", "--report has no value: write --report=json"},
		{"--report=xml 5 true", `there is no report as "xml": write --report=json`},
		{"-\x00 5 true", "-\x00 is not an option"},
	} {
		var stdout, stderr bytes.Buffer
		code := runCommand(strings.Fields(c.args), &stdout, &stderr)
		if code != exitFailed || stdout.Len() > 0 || !strings.HasPrefix(stderr.String(), "bide run: "+c.want) {
			t.Errorf("%q: exit code %d, %q, %q", c.args, code, &stdout, &stderr)
		}
	}
	for _, args := range []string{"--help", "-h", "-vh", "-v --he x", "-k 5 --help"} {
		var stdout, stderr bytes.Buffer
		if code := runCommand(strings.Fields(args), &stdout, &stderr); code != exitKept || stdout.String() != runHelp || stderr.Len() > 0 {
			t.Errorf("%q: exit code %d, %q", args, code, &stderr)
		}
	}
	o, err := parseRun(strings.Fields("-pvk2 --signal=TERM -- 1m30s cmd -k --help"))
	if err != nil || !o.preserve || !o.verbose || o.killAfter != 2*time.Second || o.limit != 90*time.Second || strings.Join(o.command, " ") != "cmd -k --help" {
		t.Errorf("%+v, %v", o, err)
	}
	o, err = parseRun(strings.Fields("-f --report json --left 5 cmd"))
	if err != nil || !o.foreground || !o.report || !o.left {
		t.Errorf("%+v, %v", o, err)
	}
	if o, err := parseRun([]string{"5", "cmd"}); err != nil || o.killAfter != 10*time.Second || o.preserve || o.verbose || o.foreground || o.report || o.left {
		t.Errorf("%+v, %v", o, err)
	}
}

func TestSeconds(t *testing.T) {
	for d, want := range map[time.Duration]string{
		4997999 * time.Microsecond: "4.997", 0: "0.001", -1: "0.001", -time.Hour: "0.001", time.Hour: "3600.000", 1e6: "0.001", 999999: "0.001",
	} {
		if got := seconds(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}

func TestLeftLine(t *testing.T) {
	for d, want := range map[time.Duration]string{1: "1s", time.Second: "1s", 1e9 + 1: "2s", forever - 1: "2562047h47m16s", 0: "0s"} {
		if got := leftLine(d, "sh"); got != "bide run: "+want+" left for sh" {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}

func TestRunHelpIsNarrow(t *testing.T) {
	for _, line := range strings.Split(runHelp+leftHelp, "\n") {
		if len([]rune(line)) > 100 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
}
