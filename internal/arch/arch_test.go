package arch

import (
	"fmt"
	"go/build/constraint"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Modules that the root module may name besides the standard library.
var (
	linkable = []string{"golang.org/x/sys"}
	testable = []string{"golang.org/x/sys", "pgregory.net/rapid", "github.com/anishathalye/porcupine"}
)

// Every Go file of the root module has to take part in one of these builds; TestEveryFileIsListed says so if not.
var builds = []struct{ goos, goarch, tags string }{
	{"linux", "amd64", ""},
	{"linux", "amd64", "bidestep,bideinvariant,race"},
	{"linux", "386", ""},
	{"linux", "arm64", ""},
	{"darwin", "amd64", ""},
	{"windows", "amd64", ""},
	{"freebsd", "amd64", ""},
}

// allListed has go list's answer for each of builds. All run at once: most of the time they read the same folders.
var allListed = sync.OnceValues(func() ([][]listed, error) {
	m, err := theModule()
	if err != nil {
		return nil, err
	}
	answers := make([][]listed, len(builds))
	errs := make([]error, len(builds))
	var wg sync.WaitGroup
	for i, b := range builds {
		wg.Go(func() { answers[i], errs[i] = goList(m, b.goos, b.goarch, b.tags) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return answers, nil
})

// eachListed reports the faults that f finds in any build, once each.
func eachListed(t *testing.T, f func(m module, p listed) []string) {
	t.Helper()
	answers, err := allListed()
	if err != nil {
		t.Fatal(err)
	}
	m := rootModule(t)
	said := map[string]bool{}
	for i, pkgs := range answers {
		own := 0
		for _, p := range pkgs {
			if !p.DepOnly {
				own++
			}
			for _, fault := range f(m, p) {
				if !said[fault] {
					said[fault] = true
					t.Errorf("%s (seen first under %v)", fault, builds[i])
				}
			}
		}
		if own == 0 {
			t.Fatalf("go list found no package of the module under %v", builds[i])
		}
	}
}

func TestImportOrder(t *testing.T) {
	o, err := parseOrder(Order)
	if err != nil {
		t.Fatal(err)
	}
	eachListed(t, func(m module, p listed) []string { return orderFaults(o, m, p) })
}

// orderFaults checks what a package of the module, its tests left out, imports of the module.
func orderFaults(o order, m module, p listed) []string {
	if p.DepOnly {
		return nil
	}
	var own []string
	for _, imp := range p.Imports {
		if m.owns(imp) {
			own = append(own, m.name(imp))
		}
	}
	return o.faults(m.name(p.ImportPath), own)
}

func TestLinksNothingElse(t *testing.T) {
	eachListed(t, linkFaults)
}

// linkFaults says whether a package that the module links is a stranger. Programs count as well: a user of the
// library and a user of the command both get what they see in go.mod.
func linkFaults(m module, p listed) []string {
	var bad []string
	if !p.Standard && !m.owns(p.ImportPath) && !within(p.ImportPath, linkable) {
		bad = append(bad, fmt.Sprintf("the module links %s; only the standard library, itself and %s may be linked",
			p.ImportPath, strings.Join(linkable, ", ")))
	}
	if !p.DepOnly && (len(p.CgoFiles) > 0 || slices.Contains(p.Imports, "C")) {
		bad = append(bad, fmt.Sprintf("package %s uses cgo", m.name(p.ImportPath)))
	}
	return bad
}

// Tests may import any layer, also one above their own, but only a few strangers.
func TestTestImports(t *testing.T) {
	eachListed(t, testImportFaults)
}

func testImportFaults(m module, p listed) []string {
	if p.DepOnly {
		return nil
	}
	var bad []string
	for _, imp := range slices.Concat(p.TestImports, p.XTestImports) {
		if !isStd(imp) && !m.owns(imp) && !within(imp, testable) {
			bad = append(bad, fmt.Sprintf("a test of %s imports %s; only the standard library, the module and %s may be imported",
				m.name(p.ImportPath), imp, strings.Join(testable, ", ")))
		}
	}
	return bad
}

// within says whether an import path belongs to one of the modules.
func within(path string, modules []string) bool {
	return slices.ContainsFunc(modules, func(mod string) bool { return module{path: mod}.owns(path) })
}

// A file that no build of the list above contains would escape the checks of this file. Files behind "ignore" are
// helpers that nothing links; nested modules answer for themselves.
func TestEveryFileIsListed(t *testing.T) {
	answers, err := allListed()
	if err != nil {
		t.Fatal(err)
	}
	m := rootModule(t)
	seen := map[string]bool{}
	for _, p := range slices.Concat(answers...) {
		if p.DepOnly {
			continue
		}
		for _, f := range slices.Concat(p.GoFiles, p.CgoFiles, p.TestGoFiles, p.XTestGoFiles) {
			rel, err := filepath.Rel(m.dir, filepath.Join(p.Dir, f))
			if err != nil {
				t.Fatal(err)
			}
			seen[filepath.ToSlash(rel)] = true
		}
	}
	files, err := moduleFiles()
	if err != nil {
		t.Fatal(err)
	}
	var nested []string // folders, with their slash
	for _, name := range files {
		if dir, ok := strings.CutSuffix(name, "/go.mod"); ok {
			nested = append(nested, dir+"/")
		}
	}
	eachFile(t, isGo, func(name string, content []byte) {
		inNested := slices.ContainsFunc(nested, func(dir string) bool { return strings.HasPrefix(name, dir) })
		if !seen[name] && !inNested && !ignored(string(content)) {
			t.Errorf("%s is in no build that the tests look at: add its platform or tag to builds", name)
		}
	})
}

// ignored says whether a file is out of every build by "//go:build ignore".
func ignored(src string) bool {
	for line := range strings.Lines(src) {
		line = strings.TrimSpace(line)
		if constraint.IsGoBuild(line) {
			expr, err := constraint.Parse(line)
			return err == nil && expr.String() == "ignore"
		}
		if strings.HasPrefix(line, "package ") {
			break
		}
	}
	return false
}

// The checks above have to be able to fail: packages that nobody has written.
func TestListedFaults(t *testing.T) {
	m := module{path: "m.example/x"}
	o, err := parseOrder("NONE < low < bide, side; bide < cmd/bide;")
	if err != nil {
		t.Fatal(err)
	}
	byOrder := func(m module, p listed) []string { return orderFaults(o, m, p) }
	for _, c := range []struct {
		name  string
		check func(module, listed) []string
		p     listed
		want  string // a part of the only fault; empty for none
	}{
		{"root over low", byOrder, listed{ImportPath: "m.example/x", Imports: []string{"fmt", "m.example/x/low"}}, ""},
		{"a path that only begins alike", byOrder, listed{ImportPath: "m.example/x", Imports: []string{"m.example/xy"}}, ""},
		{"tests may look up", byOrder, listed{ImportPath: "m.example/x/low", XTestImports: []string{"m.example/x"}}, ""},
		{"upwards", byOrder, listed{ImportPath: "m.example/x/low", Imports: []string{"m.example/x"}}, "low must not import bide"},
		{"sideways", byOrder, listed{ImportPath: "m.example/x", Imports: []string{"m.example/x/side"}}, "bide must not import side"},
		{"unknown", byOrder, listed{ImportPath: "m.example/x/new"}, "package new is in no rule"},
		{"below a known one", byOrder, listed{ImportPath: "m.example/x/cmd/bide/more"}, "package cmd/bide/more is in no rule"},
		{"std", linkFaults, listed{ImportPath: "net/http", Standard: true, DepOnly: true}, ""},
		{"std's own copy", linkFaults, listed{ImportPath: "vendor/golang.org/x/net/idna", Standard: true, DepOnly: true}, ""},
		{"sys", linkFaults, listed{ImportPath: "golang.org/x/sys/unix", DepOnly: true}, ""},
		{"itself", linkFaults, listed{ImportPath: "m.example/x/low"}, ""},
		{"a stranger", linkFaults, listed{ImportPath: "golang.org/x/sync/errgroup", DepOnly: true}, "links golang.org/x/sync/errgroup"},
		{"a test module", linkFaults, listed{ImportPath: "pgregory.net/rapid", DepOnly: true}, "links pgregory.net/rapid"},
		{"alike", linkFaults, listed{ImportPath: "golang.org/x/system", DepOnly: true}, "links golang.org/x/system"},
		{"cgo", linkFaults, listed{ImportPath: "m.example/x/low", CgoFiles: []string{"c.go"}}, "package low uses cgo"},
		{"rapid", testImportFaults, listed{ImportPath: "m.example/x", TestImports: []string{"testing", "pgregory.net/rapid"}}, ""},
		{"any layer", testImportFaults, listed{ImportPath: "m.example/x/low", TestImports: []string{"m.example/x/cmd/bide"}}, ""},
		{"inside", testImportFaults, listed{ImportPath: "m.example/x", TestImports: []string{"go.example/assert"}}, "a test of bide imports go.example/assert"},
		{"outside", testImportFaults, listed{ImportPath: "m.example/x/low", XTestImports: []string{"go.example/assert"}}, "a test of low imports go.example/assert"},
	} {
		got := c.check(m, c.p)
		if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || !strings.Contains(got[0], c.want)) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
