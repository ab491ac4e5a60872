package syncs_test

import (
	"go/ast"
	"go/doc"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// headings are what the comment of every exported type says something about, in this order, if only that there is
// nothing to say.
var headings = []string{"Fairness", "Cancellation", "Close", "Memory model"}

// noHeadings are the exported types that need none, and why.
var noHeadings = map[string]string{
	"Waitable":   "an interface: what is waited for has them",
	"PanicError": "a result: nothing waits for it",
	"PoolStats":  "a result",
	"QueueStats": "a result",
}

// docFaults says which exported types lack a heading, and which exemptions are for nothing.
func docFaults(fset *token.FileSet, files []*ast.File, exempt map[string]string) (faults []string, types int) {
	p, err := doc.NewFromFiles(fset, files, "syncs")
	if err != nil {
		return []string{err.Error()}, 0
	}
	unused := maps.Clone(exempt)
	for _, typ := range p.Types {
		types++
		delete(unused, typ.Name)
		has := headingsOf(p.Parser().Parse(typ.Doc))
		if exempt[typ.Name] != "" {
			if len(has) > 0 {
				faults = append(faults, typ.Name+" has headings, and is exempt")
			}
			continue
		}
		at := -1
		for _, want := range headings {
			i := slices.Index(has, want)
			switch {
			case i < 0:
				faults = append(faults, typ.Name+" has no heading "+want)
			case i < at:
				faults = append(faults, typ.Name+" has its heading "+want+" too early")
			}
			at = max(at, i)
		}
	}
	for name := range unused {
		faults = append(faults, name+" is exempt, and is no exported type")
	}
	slices.Sort(faults)
	return faults, types
}

// headingsOf are the headings that have a text below.
func headingsOf(d *comment.Doc) (has []string) {
	for i, block := range d.Content {
		h, ok := block.(*comment.Heading)
		if !ok || i+1 == len(d.Content) {
			continue
		}
		if _, ok := d.Content[i+1].(*comment.Heading); ok {
			continue
		}
		var text strings.Builder
		for _, t := range h.Text {
			if plain, ok := t.(comment.Plain); ok {
				text.WriteString(string(plain))
			}
		}
		has = append(has, text.String())
	}
	return has
}

// Each exported type says what it promises, under the same headings.
func TestDocHeadings(t *testing.T) {
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	faults, types := docFaults(fset, files, noHeadings)
	for _, fault := range faults {
		t.Error(fault)
	}
	if types < 4 {
		t.Errorf("only %d exported types were found", types)
	}
}

// It has to be able to fail.
func TestDocFaults(t *testing.T) {
	const whole = "// T is a type.\n//\n// # Fairness\n//\n// Some.\n//\n// # Cancellation\n//\n// Some.\n//\n// # Close\n//\n// Some.\n//\n" +
		"// # Memory model\n//\n// Some.\n"
	for _, c := range []struct{ src, want string }{
		{whole + "type T struct{}", ""},
		{whole + "type T[K comparable, V any] struct{}", ""},
		{"type t struct{}", ""},
		{"// T is a type.\ntype T struct{}", "T has no heading Cancellation, T has no heading Close, T has no heading Fairness, T has no heading Memory model"},
		{strings.Replace(whole, "# Close", "close:", 1) + "type T struct{}", "T has no heading Close"},
		{strings.Replace(whole, "# Close\n//\n// Some.", "# Close", 1) + "type T struct{}", "T has no heading Close"},
		{strings.Replace(strings.Replace(whole, "Fairness", "x", 1), "Close", "Fairness", 1) + "type T struct{}",
			"T has its heading Cancellation too early, T has no heading Close"},
		{"type S struct{}", ""},
		{strings.ReplaceAll(whole, "T is", "S is") + "type S struct{}", "S has headings, and is exempt"},
	} {
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, "a.go", "// Package syncs is one.\npackage syncs\n\n"+c.src+"\n", parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		exempt := map[string]string{}
		if strings.Contains(c.src, "type S") {
			exempt["S"] = "because"
		}
		faults, _ := docFaults(fset, []*ast.File{f}, exempt)
		if got := strings.Join(faults, ", "); got != c.want {
			t.Errorf("%s\n%s\nwant\n%s", c.src, got, c.want)
		}
	}
	faults, _ := docFaults(token.NewFileSet(), nil, map[string]string{"S": "because"})
	if len(faults) != 1 || faults[0] != "S is exempt, and is no exported type" {
		t.Error(faults)
	}
}
