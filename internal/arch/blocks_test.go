package arch

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The blocks of Go in README and in the guides have to compile. The blocks of a section are one package, in their order;
// one that declares again what another has declared begins a new one, as the block after a "before" does. What a block
// takes for granted is declared in testdata/blocks, in a file that is named after the page. Imports are added as they are
// used.

// block is the text between two fences.
type block struct {
	line    int // in the page
	section string
	text    string
}

var fence = regexp.MustCompile("^ *```(\\w*)$")

// blocks are a page's blocks of Go.
func blocks(page []byte) (found []block) {
	section, lang, n := "", "", 0
	var b block
	for line := range strings.Lines(string(page)) {
		n++
		line = strings.TrimRight(line, "\n")
		m := fence.FindStringSubmatch(line)
		switch {
		case m != nil && lang == "":
			lang, b = m[1]+"?", block{line: n + 1, section: section}
		case m != nil:
			if lang == "go?" {
				found = append(found, b)
			}
			lang = ""
		case lang != "":
			b.text += line + "\n"
		case strings.HasPrefix(line, "#"):
			section = line
		}
	}
	return found
}

// parseBlock parses declarations, or else statements. Positions are those of the page.
func parseBlock(fset *token.FileSet, name string, b block) (*ast.File, error) {
	at := fmt.Sprintf("/*line %s:%d:1*/", name, b.line)
	f, err := parser.ParseFile(fset, "", "package page; "+at+b.text, 0)
	if err == nil {
		return f, nil
	}
	f, stmtErr := parser.ParseFile(fset, "", "package page; func _(ctx context.Context) (err error) { { "+at+b.text+"}; return }", 0)
	if stmtErr == nil {
		return f, nil
	}
	return nil, err
}

// declares are the names that a file declares at its top, methods as T.m.
func declares(f *ast.File) map[string]bool {
	names := map[string]bool{}
	for _, d := range f.Decls {
		for _, name := range declared(d) {
			names[name] = true
		}
	}
	delete(names, "_")
	return names
}

func declared(d ast.Decl) (names []string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		name := d.Name.Name
		if d.Recv != nil {
			recv := d.Recv.List[0].Type
			if star, ok := recv.(*ast.StarExpr); ok {
				recv = star.X
			}
			name = fmt.Sprint(recv) + "." + name
		}
		return []string{name}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				names = append(names, spec.Name.Name)
			case *ast.ValueSpec:
				for _, id := range spec.Names {
					names = append(names, id.Name)
				}
			}
		}
	}
	return names
}

// A binder knows the packages that blocks may use.
type binder struct {
	fset  *token.FileSet
	paths map[string]string // by name
	imp   types.Importer
}

// stdOfBlocks are the packages of the standard library that blocks may use.
var stdOfBlocks = []string{"context", "database/sql", "errors", "fmt", "io", "net", "net/http", "os", "os/exec", "sync", "testing", "time"}

// newBinder asks the go command for the compiled packages, those of the module and of the standard library, and reads
// stand-ins for golang.org/x/sync, which the module does without.
func newBinder(t *testing.T) *binder {
	m := rootModule(t)
	b := &binder{fset: token.NewFileSet(), paths: map[string]string{}}
	args := append([]string{"list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Name}} {{.Export}}", "./..."}, stdOfBlocks...)
	out, err := goCommand(m.dir, nil, args...)
	if err != nil {
		t.Fatal(err)
	}
	exports := map[string]string{}
	for line := range strings.Lines(string(out)) {
		var p, name, file string
		fmt.Sscan(line, &p, &name, &file) // unsafe has no file
		exports[p] = file
		if m.owns(p) && name != "main" {
			b.paths[name] = p
		}
	}
	for _, p := range stdOfBlocks {
		b.paths[path.Base(p)] = p
	}
	compiled := importer.ForCompiler(b.fset, "gc", func(p string) (io.ReadCloser, error) { return os.Open(exports[p]) })
	standIns := map[string]*types.Package{}
	b.imp = importerFunc(func(p string) (*types.Package, error) {
		if pkg := standIns[p]; pkg != nil {
			return pkg, nil
		}
		return compiled.Import(p)
	})
	names, err := filepath.Glob("testdata/sync/*.go")
	if err != nil || len(names) == 0 {
		t.Fatal("no stand-ins: ", err)
	}
	for _, name := range names {
		f, err := parser.ParseFile(b.fset, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		p := "golang.org/x/sync/" + f.Name.Name
		pkg, err := (&types.Config{Importer: b.imp}).Check(p, b.fset, []*ast.File{f}, nil)
		if err != nil {
			t.Fatal(err)
		}
		standIns[p], b.paths[f.Name.Name] = pkg, p
	}
	return b
}

type importerFunc func(string) (*types.Package, error)

func (f importerFunc) Import(p string) (*types.Package, error) { return f(p) }

// addImports gives a file without imports those that it uses.
func (b *binder) addImports(f *ast.File) {
	if len(f.Imports) > 0 {
		return
	}
	decl := &ast.GenDecl{Tok: token.IMPORT, Lparen: 1}
	top := declares(f)
	seen := map[string]bool{}
	for _, id := range f.Unresolved {
		p := b.paths[id.Name]
		if p == "" || seen[p] || top[id.Name] {
			continue
		}
		seen[p] = true
		spec := &ast.ImportSpec{Path: &ast.BasicLit{Kind: token.STRING, Value: `"` + p + `"`}}
		decl.Specs = append(decl.Specs, spec)
		f.Imports = append(f.Imports, spec)
	}
	if len(decl.Specs) > 0 {
		f.Decls = append([]ast.Decl{decl}, f.Decls...)
	}
}

// faults says what does not compile in a page; granted is the source of what it takes for granted.
func (b *binder) faults(name string, page []byte, granted string) (bad []string, n int) {
	var unit []*ast.File
	var section string
	names := map[string]bool{}
	used := map[string]bool{}
	flush := func() {
		if len(unit) > 0 {
			bad = append(bad, b.check(unit, granted, names, used)...)
		}
		unit, names = nil, map[string]bool{}
	}
	for _, block := range blocks(page) {
		n++
		f, err := parseBlock(b.fset, name, block)
		if err != nil {
			bad = append(bad, err.Error())
			continue
		}
		own := declares(f)
		again := false
		for name := range own {
			again = again || names[name]
		}
		if again || block.section != section {
			flush()
		}
		section = block.section
		for name := range own {
			names[name] = true
		}
		unit = append(unit, f)
	}
	flush()
	f, err := parser.ParseFile(token.NewFileSet(), "", "package page\n"+granted, 0)
	if err != nil {
		return append(bad, err.Error()), n
	}
	for decl := range declares(f) {
		if !used[decl] && !strings.Contains(decl, ".") {
			bad = append(bad, decl+" is granted to "+name+", and nothing there uses it")
		}
	}
	slices.Sort(bad)
	return bad, n
}

// check compiles a unit, with what of the granted it does not declare itself.
func (b *binder) check(unit []*ast.File, granted string, own, used map[string]bool) (bad []string) {
	f, err := parser.ParseFile(b.fset, "granted", "package page\n"+granted, 0)
	if err != nil {
		return []string{err.Error()}
	}
	f.Decls = slices.DeleteFunc(f.Decls, func(d ast.Decl) bool {
		return slices.ContainsFunc(declared(d), func(name string) bool {
			recv, _, _ := strings.Cut(name, ".")
			return own[name] || own[recv]
		})
	})
	for _, f := range unit {
		for _, id := range f.Unresolved {
			used[id.Name] = true
		}
	}
	var files []*ast.File
	for _, f := range append(unit, f) {
		b.addImports(f)
		files = append(files, f)
	}
	conf := types.Config{Importer: b.imp, Error: func(err error) {
		e := err.(types.Error)
		if pos := b.fset.Position(e.Pos); !e.Soft { // soft: a variable or an import that is not used
			bad = append(bad, fmt.Sprintf("%s:%d: %s", pos.Filename, pos.Line, e.Msg))
		}
	}}
	_, _ = conf.Check("page", b.fset, files, nil)
	return bad
}

func TestBlocksCompile(t *testing.T) {
	b := newBinder(t)
	total := 0
	isPage := func(name string) bool {
		return name == "README.md" || path.Dir(name) == "docs/guides" && path.Ext(name) == ".md"
	}
	eachFile(t, isPage, func(name string, content []byte) {
		granted, err := os.ReadFile(filepath.Join("testdata/blocks", strings.TrimSuffix(path.Base(name), ".md")+".txt"))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		bad, n := b.faults(name, content, string(bytes.TrimSpace(granted)))
		for _, fault := range bad {
			t.Error(fault)
		}
		t.Logf("%s: %d blocks", name, n)
		total += n
	})
	if total < 50 {
		t.Errorf("only %d blocks were found", total)
	}
}

// It has to be able to fail.
func TestBlockFaults(t *testing.T) {
	b := newBinder(t)
	for _, c := range []struct{ page, granted, want string }{
		{"# A\n```go\nfunc f() time.Duration { return g() }\n```\n", "func g() time.Duration { return 0 }", ""},
		{"# A\n```go\nerr := bide.Check(ctx)\nreturn err\n```\n", "", ""},
		{"# A\n\n- x\n\n  ```go\n  var a int = \"\"\n  ```\n", "", "a.md:6: cannot use"},
		{"# A\n```go\nfunc f() { bide.Chekc() }\n```\n", "", "a.md:3: undefined: bide.Chekc"},
		{"# A\n```go\nfunc f() { g() }\n```\n# B\n```go\nfunc g() {}\n```\n", "", "a.md:3: undefined: g"},
		{"# A\n```go\nfunc f() { g() }\n```\ntext\n```go\nfunc g() {}\n```\n", "", ""},
		{"# A\n```go\nvar a int\n```\ntext\n```go\nvar a string\n\nfunc f() string { return a }\n```\n", "", ""},
		{"# A\n```go\nfunc f( {}\n```\n", "", "a.md:3"},
		{"# A\n```sh\nfunc f( {}\n```\n", "", ""},
		{"# A\n```go\nvar g errgroup.Group\n\nfunc f() error { g.Go(f); return g.Wait(1) }\n```\n", "", "a.md:5: too many arguments"},
		{"# A\n```go\nvar a int\n```\n", "func g() {}", "g is granted"},
	} {
		bad, _ := b.faults("a.md", []byte(c.page), c.granted)
		got := strings.Join(bad, "\n")
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.page, got, c.want)
		}
	}
}
