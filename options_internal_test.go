package bide

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestOptionsAreDocumented compares what the comments of the functions list as their options with what they take.
func TestOptionsAreDocumented(t *testing.T) {
	docs := funcDocs(t)
	for _, c := range []*call{&callFailAfter, &callShield, &callRun, &callOpen, &callWithNursery, &callGo, &callService,
		&callBlocking, &callMain} {
		if bad := optionFault(c, docs[c.name]); bad != "" {
			t.Errorf("%s: %s", c.name, bad)
		}
	}
	// These refer to another one.
	for _, c := range []struct{ of, like *call }{{&callFailAt, &callFailAfter}, {&callWithin, &callFailAfter},
		{&callMoveOnAfter, &callFailAfter}, {&callMoveOnAt, &callMoveOnAfter}, {&callTryGo, &callGo}} {
		if c.of.uses != c.like.uses || !strings.Contains(docs[c.of.name], c.like.name+"]") {
			t.Errorf("%s does not take the options of %s, or its comment does not refer to it", c.of.name, c.like.name)
		}
	}
}

func TestOptionFault(t *testing.T) {
	for doc, want := range map[string]string{
		"Go goes.":                   "no line of options",
		"Go.\n\nOptions: Name.":      "Clock is not listed",
		"Options: Name, Clock, Idle": "Idle is listed, and panics",
		"Options: Clock,\nName.":     "",
	} {
		if got := optionFault(&call{"Go", 1<<optName | 1<<optClock, 0}, doc); got != want {
			t.Errorf("%q: %q, want %q", doc, got, want)
		}
	}
}

// optionFault says what is wrong with the list of options in c's comment; "" is nothing.
func optionFault(c *call, doc string) string {
	_, list, ok := strings.Cut(doc, "Options: ")
	if !ok {
		return "no line of options"
	}
	listed := map[string]bool{}
	for _, name := range regexp.MustCompile(`\w+`).FindAllString(list, -1) {
		listed[name] = true
	}
	for kind := optName; int(kind) < len(optNames); kind++ {
		name, taken := optNames[kind], c.uses&(1<<kind) != 0
		switch {
		case taken && !listed[name]:
			return name + " is not listed"
		case !taken && listed[name]:
			return name + " is listed, and panics"
		}
	}
	return ""
}

// funcDocs returns the comments of the package's functions and methods that are exported, by name.
func funcDocs(t *testing.T) map[string]string {
	t.Helper()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	docs := map[string]string{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Name.IsExported() {
				docs[fn.Name.Name] = fn.Doc.Text()
			}
		}
	}
	return docs
}
