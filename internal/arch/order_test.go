package arch

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// order is a parsed order: for each package of a rule, the packages that it may import.
type order map[string]map[string]bool

// parseOrder reads rules "a, b < c, d < e;": each list may import the list left of it and whatever that may import.
// # starts a comment. Every name stands to the right of < exactly once, and before its first use at the left end of
// a rule, so there can be no cycle. NONE is the empty left end.
func parseOrder(text string) (order, error) {
	o := order{}
	rules := strings.Split(regexp.MustCompile(`#.*`).ReplaceAllString(text, ""), ";")
	if rest := strings.TrimSpace(rules[len(rules)-1]); rest != "" {
		return nil, fmt.Errorf("no ; after %q", rest)
	}
	for _, rule := range rules[:len(rules)-1] {
		if err := o.add(rule); err != nil {
			return nil, fmt.Errorf("%w in %q", err, strings.TrimSpace(rule))
		}
	}
	return o, nil
}

func (o order) add(rule string) error {
	lists := strings.Split(rule, "<")
	if len(lists) == 1 {
		return errors.New("no <")
	}
	below := map[string]bool{} // what the next list may import
	for i, list := range lists {
		next := map[string]bool{}
		for name := range strings.SplitSeq(list, ",") {
			name = strings.TrimSpace(name)
			switch _, defined := o[name]; {
			case name == "":
				return errors.New("a name is missing")
			case strings.ContainsAny(name, " \t\n"):
				return fmt.Errorf("no , or < between the words of %q", name)
			case name == "NONE":
				if i > 0 || strings.TrimSpace(list) != "NONE" {
					return errors.New("NONE is not alone at the left end")
				}
				continue
			case i == 0 && !defined:
				return fmt.Errorf("%s is used before it is defined", name)
			case i > 0 && defined:
				return fmt.Errorf("%s is defined again", name)
			case i > 0:
				o[name] = below
			}
			next[name] = true
			maps.Copy(next, o[name])
		}
		below = next
	}
	return nil
}

// folders are the names in Order that stand for every package below them, none of which may import another one.
var folders = []string{"examples"}

// faults says what is wrong with the imports of one package; both are names as in Order.
func (o order) faults(pkg string, imports []string) []string {
	may, ok := o[pkg]
	if folder, _, below := strings.Cut(pkg, "/"); !ok && below && slices.Contains(folders, folder) {
		may, ok = o[folder]
	}
	if !ok {
		return []string{fmt.Sprintf("package %s is in no rule of the import order", pkg)}
	}
	var bad []string
	for _, imp := range slices.Sorted(slices.Values(imports)) {
		if !may[imp] {
			bad = append(bad, fmt.Sprintf("%s must not import %s", pkg, imp))
		}
	}
	return bad
}

const fakeOrder = `
NONE < a, b # two bottoms
     < c < d, e;
d < f;      # f may not know e
a, b < examples;
NONE < lone;`

func TestParseOrder(t *testing.T) {
	o, err := parseOrder(fakeOrder)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"a": "", "b": "", "c": "a b", "d": "a b c", "e": "a b c", "f": "a b c d", "examples": "a b", "lone": ""}
	if len(o) != len(want) {
		t.Errorf("%d packages, want %d", len(o), len(want))
	}
	for pkg, may := range want {
		if got := strings.Join(slices.Sorted(maps.Keys(o[pkg])), " "); got != may || o[pkg] == nil {
			t.Errorf("%s may import %q, want %q", pkg, got, may)
		}
	}
}

func TestParseOrderRefuses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"NONE < a", "no ;"},
		{"NONE < a; a", "no ;"},
		{"NONE < a; # ;\nb < c # ;", "no ;"},
		{"NONE;", "no <"},
		{";", "no <"},
		{"< a;", "a name is missing"},
		{"NONE < ;", "a name is missing"},
		{"NONE < a,, b;", "a name is missing"},
		{"NONE < a, ;", "a name is missing"},
		{"NONE < a b;", "no , or <"},
		{"NONE < a;\nNONE <\na;", "a is defined again"},
		{"NONE < a, a;", "a is defined again"},
		{"NONE < a < b < a;", "a is defined again"},
		{"NONE < a;\nb < c;", "b is used before it is defined"},
		{"b < c; NONE < b;", "b is used before it is defined"},
		{"a < a;", "used before"},
		{"NONE < a < NONE;", "NONE is not alone"},
		{"NONE < a; NONE, a < b;", "NONE is not alone"},
	} {
		if o, err := parseOrder(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, %v; want an error with %q", c.text, o, err, c.want)
		}
	}
}

// The check has to be able to fail: packages and imports that break the small order above.
func TestOrderFaults(t *testing.T) {
	o, err := parseOrder(fakeOrder)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ pkg, imports, want string }{
		{"a", "", ""},
		{"f", "d c a", ""},
		{"g", "", "package g is in no rule of the import order"},
		{"g", "a", "package g is in no rule of the import order"},
		{"a", "c", "a must not import c"},                                 // upwards
		{"a", "b", "a must not import b"},                                 // sideways
		{"f", "e d", "f must not import e"},                               // not below it
		{"d", "unheard", "d must not import unheard"},                     // in no rule
		{"lone", "b a", "lone must not import a; lone must not import b"}, // not even the bottom
		{"c", "c", "c must not import c"},
		{"examples/x", "a", ""},
		{"examples/x/y", "b", ""},
		{"examples/x", "c", "examples/x must not import c"},
		{"examples/x", "examples/y examples", "examples/x must not import examples; examples/x must not import examples/y"},
		{"examplesx/y", "a", "package examplesx/y is in no rule of the import order"},
		{"f/x", "a", "package f/x is in no rule of the import order"},
	} {
		if got := strings.Join(o.faults(c.pkg, strings.Fields(c.imports)), "; "); got != c.want {
			t.Errorf("%s importing %q: %q, want %q", c.pkg, c.imports, got, c.want)
		}
	}
}
