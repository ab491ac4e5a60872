// Command mutants breaks the code of this module, one fault at a time, and runs the tests that are to notice: see the
// lists. A fault that nobody notices is a hole in the tests. `make mutants` runs it; with an argument, those faults only
// whose file or reason contains it.
//
// The sources stay as they are: each fault is an overlay of the go command.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// What came of a fault.
const (
	killed   = "killed"
	survived = "SURVIVED"
	broken   = "does not compile"
)

func main() {
	verbose := flag.Bool("v", false, "show what the tests print")
	flag.Parse()
	if err := run(flag.Arg(0), *verbose); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(only string, verbose bool) error {
	var some []fault
	for _, f := range faults() {
		if strings.Contains(f.file+": "+f.why, only) {
			some = append(some, f)
		}
	}
	if err := control(some); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	begun, count := time.Now(), map[string]int{}
	for _, f := range some {
		began := time.Now()
		result, out, err := f.try(dir)
		if err != nil {
			return err
		}
		count[result]++
		fmt.Printf("%-8s %5.1fs  %s: %s\n", result, time.Since(began).Seconds(), f.file, f.why)
		if verbose || result == broken {
			fmt.Print(out)
		}
	}
	fmt.Printf("%d faults, %d killed, in %v\n", len(some), count[killed], time.Since(begun).Round(time.Second))
	if n := len(some) - count[killed]; n > 0 {
		return fmt.Errorf("%d faults were not noticed", n)
	}
	return nil
}

// control runs the tests on the code as it is: one that fails anyway notices nothing. Those of a package run together.
func control(faults []fault) error {
	var all []fault
	for _, f := range faults {
		same := slices.IndexFunc(all, func(c fault) bool { return c.pkg == f.pkg && c.tags == f.tags })
		if same < 0 {
			all = append(all, fault{pkg: f.pkg, tags: f.tags, run: f.run})
		} else if !strings.Contains(all[same].run, f.run) {
			all[same].run += "|" + f.run
		}
	}
	for _, f := range all {
		if out, err := f.test(""); err != nil {
			return fmt.Errorf("without a fault: go test -tags=%s -run='%s' %s: %v\n%s", f.tags, f.run, f.pkg, err, out)
		}
	}
	return nil
}

// try runs the tests with the fault.
func (f fault) try(dir string) (result, out string, err error) {
	overlay, err := f.overlay(dir)
	if err != nil {
		return "", "", err
	}
	out, err = f.test(overlay)
	switch {
	case err == nil:
		return survived, out, nil
	case strings.Contains(out, "[build failed]") || strings.Contains(out, "[setup failed]"):
		return broken, out, nil
	}
	return killed, out, nil
}

// overlay writes the file with the fault, and what the go command needs to take it for the other.
func (f fault) overlay(dir string) (file string, err error) {
	source, err := os.ReadFile(f.file)
	if err != nil {
		return "", err
	}
	text, err := f.apply(string(source))
	if err != nil {
		return "", err
	}
	path, err := filepath.Abs(f.file)
	if err != nil {
		return "", err
	}
	changed, file := filepath.Join(dir, "changed.go"), filepath.Join(dir, "overlay.json")
	list, err := json.Marshal(map[string]map[string]string{"Replace": {path: changed}})
	if err != nil {
		return "", err
	}
	return file, errors.Join(os.WriteFile(changed, []byte(text), 0o666), os.WriteFile(file, list, 0o666))
}

// apply makes the change.
func (f fault) apply(source string) (string, error) {
	if n := strings.Count(source, f.old); n != 1 {
		return "", fmt.Errorf("%s: what is to be changed occurs %d times (%s)", f.file, n, f.why)
	}
	return strings.Replace(source, f.old, f.new, 1), nil
}

// test runs the tests that are to notice. A model gets half a second.
func (f fault) test(overlay string) (out string, err error) {
	cmd := exec.Command("go", "test", "-short", "-vet=off", "-timeout=25s", "-tags="+f.tags, "-overlay="+overlay, "-run="+f.run, f.pkg)
	cmd.Env = append(os.Environ(), "BIDE_EXPLORE=500ms")
	b, err := cmd.CombinedOutput()
	return string(b), err
}
