package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The lists keep up with the code.
func TestFaults(t *testing.T) {
	t.Chdir("../..")
	all := faults()
	if len(all) < 30 {
		t.Errorf("%d faults", len(all))
	}
	seen := map[string]bool{}
	for _, f := range all {
		source, err := os.ReadFile(f.file)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := f.apply(string(source)); err != nil {
			t.Error(err)
		} else if text == string(source) || seen[text] {
			t.Errorf("%s: no fault, or one that is in the list twice (%s)", f.file, f.why)
		} else {
			seen[text] = true
		}
		if f.why == "" || f.tags != "" && f.tags != model {
			t.Errorf("%+v", f)
		}
		if _, err := regexp.Compile(f.run); err != nil || f.run == "" {
			t.Errorf("-run %q: %v", f.run, err)
		}
		if tests, _ := filepath.Glob(filepath.Join(f.pkg, "*_test.go")); len(tests) == 0 {
			t.Errorf("no tests in %s", f.pkg)
		}
	}
}

func TestApply(t *testing.T) {
	f := fault{file: "x.go", old: "a", new: "b", why: "why"}
	if text, err := f.apply("can"); text != "cbn" || err != nil {
		t.Error(text, err)
	}
	for _, source := range []string{"", "banana"} {
		if _, err := f.apply(source); err == nil || !strings.Contains(err.Error(), "x.go: what is to be changed occurs") {
			t.Errorf("%q: %v", source, err)
		}
	}
}

// The three things that can come of a fault, in this package.
func TestTry(t *testing.T) {
	switch os.Getenv("MUTANTS_INNER") {
	case "1":
		return
	case "fail":
		t.Fatal("as it was told to")
	}
	t.Setenv("MUTANTS_INNER", "1")
	t.Chdir("../..")
	for _, x := range []struct{ old, new, run, want string }{
		{`n != 1 {`, `n == 1 {`, "^TestApply$", killed},
		{`"show what the tests print"`, `"show"`, "^TestApply$", survived},
		{`func control(`, `func control(x `, "^TestApply$", broken},
	} {
		f := fault{file: "internal/mutants/main.go", old: x.old, new: x.new, pkg: "./internal/mutants", run: x.run}
		if got, out, err := f.try(t.TempDir()); got != x.want || err != nil {
			t.Errorf("%s: %s, %v\n%s", x.want, got, err, out)
		}
	}
	ok := []fault{{pkg: "./internal/mutants", run: "^TestApply$"}, {pkg: "./internal/mutants", run: "^TestFaults$"}}
	if err := control(ok); err != nil {
		t.Error(err)
	}
	t.Setenv("MUTANTS_INNER", "fail")
	if err := control(append(ok, fault{pkg: "./internal/mutants", run: "^TestTry$"})); err == nil ||
		!strings.Contains(err.Error(), "without a fault: go test -tags= -run='^TestApply$|^TestFaults$|^TestTry$'") {
		t.Error(err)
	}
}
