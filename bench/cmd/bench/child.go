package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"

	"bide.invalid/bide/bench/internal/pair"
)

// spawn measures a row in a process of its own, or in one a round.
func spawn(row pair.Row, plan pair.Plan) (pair.Measured, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	args := []string{"-child", row.Name}
	if plan.Quick {
		args = []string{"-child", "-quick", row.Name}
	}
	all := pair.Measured{}
	for range row.Processes(plan) {
		cmd := exec.Command(self, args...)
		// Set from outside: the service of package timer looks at the number of processors as the process starts.
		cmd.Env = append(os.Environ(), "GOMAXPROCS="+strconv.Itoa(max(row.Procs, 1)))
		if row.NoGC {
			cmd.Env = append(cmd.Env, "GOGC=off")
		}
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("its process: %w", err)
		}
		var m pair.Measured
		if err := json.Unmarshal(out, &m); err != nil {
			return nil, fmt.Errorf("what its process printed: %w", err)
		}
		all.Add(m)
	}
	return all, nil
}

func child(row pair.Row, plan pair.Plan, stdout, stderr io.Writer) int {
	m, err := pair.Measure(row, plan)
	if err == nil {
		err = json.NewEncoder(stdout).Encode(m)
	}
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}
