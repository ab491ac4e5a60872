package arch

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestModulePath keeps the module renamable by replacing one string. The path may stand
//   - in go.mod and go.work;
//   - in an import of a Go file;
//   - in a comment of a Go file, on a line that is an import line (a doc comment that shows one);
//   - in a .md file, directly in double quotes, as an import line has it.
//
// A program that needs the path, say to find its own frames in a goroutine dump, asks for it: reflect's PkgPath,
// or debug.ReadBuildInfo.
func TestModulePath(t *testing.T) {
	m := rootModule(t)
	everything := func(string) bool { return true }
	eachFile(t, everything, func(name string, content []byte) {
		for _, fault := range pathFaults(m, name, content) {
			t.Error(fault)
		}
	})
}

func pathFaults(m module, name string, content []byte) []string {
	if !bytes.Contains(content, []byte(m.path)) {
		return nil
	}
	quoted := regexp.MustCompile(`"` + regexp.QuoteMeta(m.path) + `(/[^"\s]*)?"`)
	commented := regexp.MustCompile(`^\s*//\s*(import )?\s*([\w.]+ )?` + quoted.String() + `$`)

	allowed := func(int, string) bool { return false } // line number and line
	switch {
	case path.Base(name) == "go.mod" || path.Base(name) == "go.work":
		return nil
	case path.Ext(name) == ".go":
		imports := importLines(m, content)
		allowed = func(n int, line string) bool { return imports[n] || commented.MatchString(line) }
	case path.Ext(name) == ".md":
		allowed = func(_ int, line string) bool {
			return !strings.Contains(quoted.ReplaceAllString(line, ""), m.path)
		}
	}

	var bad []string
	n := 0
	for line := range strings.Lines(string(content)) {
		n++
		if line = strings.TrimRight(line, "\r\n"); strings.Contains(line, m.path) && !allowed(n, line) {
			bad = append(bad, fmt.Sprintf("%s:%d: the module path may stand only in imports and go.mod", name, n))
		}
	}
	return bad
}

// importLines gives the lines with an import of the module and nothing else that holds its path.
func importLines(m module, content []byte) map[int]bool {
	lines := map[int]bool{}
	fset := token.NewFileSet()
	f, _ := parser.ParseFile(fset, "", content, parser.ImportsOnly) // a broken file has the imports before the break
	if f == nil {
		return lines
	}
	text := strings.Split(string(content), "\n")
	for _, spec := range f.Imports {
		if p := importPath(spec); m.owns(p) {
			n := fset.Position(spec.Path.Pos()).Line
			lines[n] = strings.Count(text[n-1], m.path) == 1
		}
	}
	return lines
}

func importPath(spec *ast.ImportSpec) string {
	p, _ := strconv.Unquote(spec.Path.Value)
	return p
}

func TestPathFaults(t *testing.T) {
	m := module{path: "m.example/x"}
	for _, c := range []struct {
		name, content string
		lines         string // numbers of the lines that are refused
	}{
		{"go.mod", "module m.example/x", ""},
		{"tools/go.mod", "require m.example/x v0.0.0", ""},
		{"go.work", "replace m.example/x => ./", ""},
		{"a.go", "package a\nimport \"m.example/x\"", ""},
		{"a.go", "package a\n\nimport (\n\t\"fmt\"\n\n\tq \"m.example/x/timer/queue\"\n)", ""},
		{"a.go", "// Package a.\n//\n//\timport \"m.example/x/timer\"\n//\n//\t\"m.example/x\"\npackage a", ""},
		{"a.go", "// Package a is m.example/x/a.\npackage a // import \"m.example/x/a\"", "1 2"},
		{"a.go", "package a\nimport \"m.example/x\"\nvar s = \"m.example/x/park.Wait\"\nvar l = []string{\n\t\"m.example/x\",\n}", "3 5"},
		{"a.go", "package a\nimport \"m.example/x\" // of m.example/x", "2"},
		{"a.go", "package a\nimport \"m.example/x\"\nvar broken = = \"m.example/x\"", "3"},
		{"README.md", "```go\nimport \"m.example/x\"\n```\nand `import \"m.example/x/syncs\"`", ""},
		{"README.md", "go get m.example/x\nimport \"m.example/x\" from m.example/x", "1 2"},
		{"Makefile", "run:\n\tgo run m.example/x/cmd/bide", "2"},
		{"a.txt", "import \"m.example/x\"", "1"},
		{"a.txt", "nothing", ""},
	} {
		var want []string
		for n := range strings.FieldsSeq(c.lines) {
			want = append(want, c.name+":"+n+": the module path may stand only in imports and go.mod")
		}
		if got := pathFaults(m, c.name, []byte(c.content)); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s with %q: %q, want lines %q", c.name, c.content, got, c.lines)
		}
	}
}
