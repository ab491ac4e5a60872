package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"
	"testing"
)

// notExampled are exported functions and methods that no example calls, and why.
var notExampled = map[string]string{
	"Links":     "is for a list",
	"Hooked":    "is for hosts that have a channel to watch",
	"PushFront": "is as PushBack", "Empty": "is what its name says",
	"ArmOn": "is as Arm",
}

// fixedNames are called by other packages, through an interface of theirs.
var fixedNames = []string{"Error", "Is", "Unwrap", "String", "Format", "Temporary", "RoundTrip", "CloseIdleConnections"}

// TestEveryNameHasAnExample wants every exported function, and every exported method of an exported type, to be named in
// an Example, in a file of examples, or in an example program. It goes by the name alone: it finds what was forgotten, not
// what is shown badly. The rivals in timer/queue are made by its All, and used through its Queue.
func TestEveryNameHasAnExample(t *testing.T) {
	used, have := map[string]bool{}, map[string]string{}
	eachFile(t, isGo, func(name string, content []byte) {
		f, err := parser.ParseFile(token.NewFileSet(), name, content, parser.SkipObjectResolution)
		if err != nil {
			t.Error(err)
			return
		}
		for _, n := range exampled(name, f) {
			used[n] = true
		}
		for _, n := range exported(name, f) {
			have[n] = name
		}
	})
	for n, file := range have {
		switch excuse := notExampled[n]; {
		case !used[n] && excuse == "":
			t.Errorf("%s: no Example, and no example program, calls %s", file, n)
		case used[n] && excuse != "":
			t.Errorf("%s: %s has an Example, and need not be excused", file, n)
		}
	}
	for n := range notExampled {
		if have[n] == "" {
			t.Errorf("there is no %s", n)
		}
	}
}

// exampled returns the names that a file shows the use of.
func exampled(name string, f *ast.File) (names []string) {
	whole := strings.HasPrefix(path.Base(name), "example_") || strings.HasPrefix(name, "examples/")
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !whole && (!ok || !strings.HasSuffix(name, "_test.go") || !strings.HasPrefix(fn.Name.Name, "Example")) {
			continue
		}
		ast.Inspect(d, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				names = append(names, id.Name)
			}
			return true
		})
	}
	return names
}

// exported returns the functions and methods that users of the package see.
func exported(name string, f *ast.File) (names []string) {
	dirs := strings.Split(path.Dir(name), "/")
	if strings.HasSuffix(name, "_test.go") || f.Name.Name == "main" || slices.Contains(dirs, "internal") ||
		slices.Contains([]string{"timer/queue", "bench", "e2e"}, path.Dir(name)) {
		return nil
	}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || !fn.Name.IsExported() || slices.Contains(fixedNames, fn.Name.Name) {
			continue
		}
		if fn.Recv == nil || receiver(fn).IsExported() {
			names = append(names, fn.Name.Name)
		}
	}
	return names
}

// receiver is the type that fn is a method of.
func receiver(fn *ast.FuncDecl) (name *ast.Ident) {
	ast.Inspect(fn.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && name == nil {
			name = id
		}
		return name == nil
	})
	return name
}

func TestExampledAndExported(t *testing.T) {
	parse := func(text string) *ast.File {
		f, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\n"+text, 0)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	decls := parse("func F() {}\nfunc f() {}\nfunc (*T[K]) M() {}\nfunc (t) N() {}\nfunc (T) String() string { return \"\" }")
	for name, want := range map[string][]string{"x/x.go": {"F", "M"}, "x/x_test.go": nil, "internal/x/x.go": nil} {
		if got := exported(name, decls); !slices.Equal(got, want) {
			t.Errorf("%s exports %q, want %q", name, got, want)
		}
	}
	uses := parse("func ExampleF() { F() }\nfunc TestM() { M() }")
	for name, want := range map[string][]string{"x.go": nil, "x_test.go": {"ExampleF", "F"}, "example_x_test.go": {"ExampleF", "F", "TestM", "M"}} {
		if got := exampled(name, uses); !slices.Equal(got, want) {
			t.Errorf("%s shows %q, want %q", name, got, want)
		}
	}
}
