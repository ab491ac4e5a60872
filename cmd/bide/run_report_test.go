//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"bide.invalid/bide/internal/crew"
	"bide.invalid/bide/wire"
)

func TestRunReportRealTime(t *testing.T) {
	for _, c := range []struct {
		args   string
		script string // for sh, unless empty
		want   string // a format of what the report has; elapsed_seconds and the pids are looked at beside it
	}{
		{"10", `exit 3`, `{"outcome":"ended","exit_code":3,"command_exit_code":3,"limit_seconds":10}`},
		{"0", `kill -HUP $$`, `{"outcome":"ended","exit_code":129,"command_exit_code":129,"command_signal":"HUP"}`},
		{"0.2", `echo ready; exec sleep 1000`, `{"outcome":"timeout","exit_code":124,"command_exit_code":143,"command_signal":"TERM","limit_seconds":0.2,"signals_sent":["TERM"]}`},
		{"-k 0.1 -s INT 0.2", `trap '' INT; sleep 1000 & echo ready; wait`,
			`{"outcome":"timeout","exit_code":137,"command_exit_code":137,"command_signal":"KILL","limit_seconds":0.2,"signals_sent":["INT"],"processes_killed":2}`},
		{"10", `kill -TERM $PPID; exec sleep 1000`, `{"outcome":"signal","exit_code":143,"command_exit_code":143,"command_signal":"TERM","limit_seconds":10,"signals_sent":["TERM"]}`},
		{"10 /no/such/program", "", `{"outcome":"not found","exit_code":127,"limit_seconds":10,"errors":["cannot run \"/no/such/program\": not found"]}`},
		{"10 /etc/passwd", "", `{"outcome":"not executable","exit_code":126,"limit_seconds":10,"errors":["cannot run \"/etc/passwd\": permission denied"]}`},
	} {
		var args, command []string
		ready := ""
		if strings.Contains(c.script, "echo ready;") {
			ready = "ready\n"
		}
		times := 1
		tr := inTime(ready, func(slower int) trace {
			times = slower
			args = append([]string{"run", "--report=json"}, slowed(strings.Fields(c.args), slower)...)
			command = args[len(args)-1:]
			if c.script != "" {
				command = []string{"sh", "-c", c.script}
				args = append(args, command...)
			}
			return traceOf(t, crew.New(), bideCmd(args...), now)
		})
		lines := strings.Split(strings.TrimSuffix(tr.stderr, "\n"), "\n")
		var got, want map[string]any
		if err := json.Unmarshal([]byte(lines[len(lines)-1]), &got); err != nil {
			t.Errorf("%v: %v: %q", args, err, tr.stderr)
			continue
		}
		if err := json.Unmarshal([]byte(c.want), &want); err != nil {
			t.Fatal(err)
		}
		if limit, ok := want["limit_seconds"].(float64); ok {
			want["limit_seconds"] = limit * float64(times)
		}
		if s, ok := got["elapsed_seconds"].(float64); !ok || s <= 0 || strings.Contains(c.want, "timeout") && s < 0.2 {
			t.Errorf("%v: elapsed %v", args, got["elapsed_seconds"])
		}
		delete(got, "elapsed_seconds")
		if fmt.Sprint(got["command"]) != fmt.Sprint(command) {
			t.Errorf("%v: command %v", args, got["command"])
		}
		delete(got, "command")
		if pids, ok := got["processes_killed"].([]any); ok {
			got["processes_killed"] = float64(len(pids))
		}
		if fmt.Sprint(got) != fmt.Sprint(want) || float64(tr.code) != got["exit_code"] {
			t.Errorf("%v: exit code %d\n%v\n%v", args, tr.code, got, want)
		}
	}
}

// A limit that has passed already is one.
func TestRunReportOfPassedDeadline(t *testing.T) {
	t.Setenv(wire.EnvDeadline, "v1;wall=2001-01-01T00:00:00Z")
	tr := traceOf(t, crew.New(), bideCmd("run", "--report=json", "60", "true"), now)
	if tr.code != exitTimedOut || !strings.Contains(tr.stderr, `"outcome":"timeout"`) || !strings.Contains(tr.stderr, `"limit_seconds":0,`) {
		t.Errorf("%+v", tr)
	}
}

// Nobody but who asks for them gets a report, or a line with the time left; and no line where there is no terminal.
func TestRunIsQuiet(t *testing.T) {
	for _, args := range [][]string{{"run", "10", "true"}, {"run", "--left", "10", "true"}} {
		if tr := traceOf(t, crew.New(), bideCmd(args...), now); tr != (trace{}) {
			t.Errorf("%v: %+v", args, tr)
		}
	}
	if tr := traceOf(t, crew.New(), bideCmd("run", "--report", "json"), now); tr.code != exitFailed || slices.Contains([]byte(tr.stderr), '{') {
		t.Errorf("%+v", tr)
	}
}
