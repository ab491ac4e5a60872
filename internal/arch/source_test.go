package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// TestSources checks each Go file by itself: unsafe code is seen by the file's name, nobody reaches into the runtime
// by go:linkname, and no import of a package starts a goroutine.
func TestSources(t *testing.T) {
	eachFile(t, isGo, func(name string, content []byte) {
		for _, fault := range sourceFaults(name, content) {
			t.Error(fault)
		}
	})
}

// TestImportGroups wants the imports of each file in up to three groups with a blank line between them: the standard
// library, other modules, this module. gofmt sorts within a group.
func TestImportGroups(t *testing.T) {
	m := rootModule(t)
	eachFile(t, isGo, func(name string, content []byte) {
		for _, fault := range groupFaults(m, name, content) {
			t.Error(fault)
		}
	})
}

func sourceFaults(name string, content []byte) []string {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, content, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return []string{err.Error()}
	}
	var bad []string
	fault := func(pos token.Pos, text string) {
		bad = append(bad, fmt.Sprintf("%s:%d: %s", name, fset.Position(pos).Line, text))
	}
	named := strings.HasSuffix(name, "_unsafe.go") || strings.HasSuffix(name, "_unsafe_test.go")
	for _, spec := range f.Imports {
		if importPath(spec) == "unsafe" && !named {
			fault(spec.Pos(), "a file that imports unsafe ends in _unsafe.go or _unsafe_test.go")
		}
	}
	for _, group := range f.Comments {
		for _, c := range group.List {
			if strings.HasPrefix(c.Text, "//go:linkname") {
				fault(c.Pos(), "no go:linkname")
			}
		}
	}
	for _, decl := range f.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok || fn.Recv != nil || fn.Name.Name != "init" {
			continue
		}
		ast.Inspect(fn, func(n ast.Node) bool {
			if g, ok := n.(*ast.GoStmt); ok {
				fault(g.Pos(), "no goroutine is started by init")
			}
			return true
		})
	}
	return bad
}

func groupFaults(m module, name string, content []byte) []string {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, content, parser.ImportsOnly|parser.ParseComments)
	if err != nil {
		return []string{err.Error()}
	}
	const none, std, other, own = 0, 1, 2, 3
	kindNames := [...]string{std: "the standard library", other: "other modules", own: "this module"}
	kindOf := func(p string) int {
		switch {
		case m.owns(p):
			return own
		case isStd(p) || p == "C":
			return std
		}
		return other
	}
	var bad []string
	last, lastLine := none, 0
	for _, spec := range f.Imports {
		start := spec.Pos()
		if spec.Doc != nil {
			start = spec.Doc.Pos()
		}
		line := fset.Position(start).Line
		kind, apart := kindOf(importPath(spec)), line > lastLine+1
		fault := func(text string) {
			bad = append(bad, fmt.Sprintf("%s:%d: import of %s %s", name, line, importPath(spec), text))
		}
		switch {
		case last == none:
		case kind < last:
			fault("stands below " + kindNames[last])
		case kind > last && !apart:
			fault("has no blank line above it, though another group begins")
		case kind == last && apart:
			fault("is cut off from its group, " + kindNames[kind])
		}
		last, lastLine = max(kind, last), fset.Position(spec.End()).Line
	}
	return bad
}

func TestSourceFaults(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"a.go", "package a\n\nimport \"fmt\"\n\nfunc init() { fmt.Println() }\n\nfunc f() { go f() }", ""},
		{"a_unsafe.go", "package a\nimport \"unsafe\"", ""},
		{"a/b_unsafe_test.go", "package a\nimport _ \"unsafe\"", ""},
		{"a.go", "package a\nimport \"unsafe\"", "a.go:2: a file that imports unsafe"},
		{"unsafe.go", "package a\nimport \"unsafe\"", "a file that imports unsafe"},
		{"a_unsafe_linux.go", "package a\nimport \"unsafe\"", "a file that imports unsafe"},
		{"a_test.go", "package a\nimport u \"unsafe\"", "a file that imports unsafe"},
		{"a_unsafe.go", "package a\nimport _ \"unsafe\"\n\n//go:linkname now time.now\nfunc now()", "a_unsafe.go:4: no go:linkname"},
		{"a.go", "package a\n\n// f speaks of go:linkname only.\nfunc f() { _ = \"//go:linkname x y\" }", ""},
		{"a.go", "package a\nfunc init() {\n\tgo f()\n}\nfunc f() {}", "a.go:3: no goroutine is started by init"},
		{"a.go", "package a\nfunc init() { func() { go init2() }() }\nfunc init2() {}", "no goroutine"},
		{"a.go", "package a\nfunc init() {}\nfunc init() { go print() }", "a.go:3: no goroutine"},
		{"a.go", "package a\ntype t int\nfunc (t) init() { go print() }", ""},
		{"a.go", "package a\nfunc {", "a.go:2"},
	} {
		got := strings.Join(sourceFaults(c.name, []byte(c.src)), "\n")
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s with %q: %q, want %q", c.name, c.src, got, c.want)
		}
	}
}

func TestGroupFaults(t *testing.T) {
	m := module{path: "m.example/x"}
	for _, c := range []struct{ imports, want string }{
		{``, ``},
		{`"fmt"`, ``},
		{`"m.example/x"`, ``},
		{`"fmt"
		  "os"

		  "golang.org/x/sys/unix"

		  "m.example/x"
		  "m.example/x/timer"`, ``},
		{`"fmt"

		  "m.example/x/timer"`, ``},
		{`"fmt" // why

		  // why this one
		  _ "pgregory.net/rapid"`, ``},
		{`"fmt"
		  "m.example/x"`, `a.go:4: import of m.example/x has no blank line above it`},
		{`"fmt"
		  // about time
		  "m.example/x"`, `has no blank line above it`},
		{`"fmt"
		  "golang.org/x/sys/unix"`, `has no blank line above it`},
		{`"pgregory.net/rapid"
		  "m.example/x"`, `has no blank line above it`},
		{`"m.example/x"

		  "fmt"`, `a.go:5: import of fmt stands below this module`},
		{`"m.example/x"

		  "pgregory.net/rapid"`, `stands below this module`},
		{`"pgregory.net/rapid"

		  "fmt"`, `stands below other modules`},
		{`"fmt"

		  "os"`, `is cut off from its group, the standard library`},
		{`"m.example/x"

		  "m.example/x/timer"`, `is cut off from its group, this module`},
	} {
		src := "package a\nimport (\n" + c.imports + "\n)\n"
		got := strings.Join(groupFaults(m, "a.go", []byte(src)), "\n")
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.imports, got, c.want)
		}
	}
}
