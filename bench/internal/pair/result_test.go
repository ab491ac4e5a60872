package pair

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func result(row string) Result {
	r := Row{Name: row, Title: "work of " + row, Procs: 2}
	m := Measured{"ours": {"ns": {1.25, 1e9, 0}}, "theirs@1M <pending>": {"late-p99.9-ns": {-3}}}
	return r.Result(m, Quick, "0123456789ab+", time.Date(2026, 3, 1, 12, 0, 0, 0, time.FixedZone("", 3600)))
}

func TestRoundTrip(t *testing.T) {
	all := []Result{result("P1"), result("P2"), result("P10")}
	var b bytes.Buffer
	if err := Encode(&b, all); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "\n"); n != 3 {
		t.Errorf("%d lines", n)
	}
	for _, want := range []string{`"row":"P1"`, `"date":"2026-03-01T11:00:00Z"`, `"procs":2,"quick":true`, `"theirs@1M <pending>"`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in %s", want, b.String())
		}
	}
	got, err := Decode(&b)
	if err != nil || !reflect.DeepEqual(got, all) {
		t.Errorf("%v (%v), want %v", got, err, all)
	}
}

func TestDecodeFails(t *testing.T) {
	for text, want := range map[string]string{
		"{\"row\":\"P1\"}\n\nP2 met\n": "line 3: invalid character",
		"{}\n":                         "line 1: no result of a row",
	} {
		if _, err := Decode(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestNumber(t *testing.T) {
	names := []string{"P1", "P2", "P10", "P99", "S1", "S2", "S10"}
	for i, name := range names {
		if number(name) == 0 || i > 0 && before(names[i-1], name) >= 0 {
			t.Errorf("%s is number %d, after %s", name, number(name), names[max(i-1, 0)])
		}
	}
	for _, name := range []string{"", "P", "p1", "P0", "P-1", "PS1", "Q1", "1", "P1000", "S1x"} {
		if n := number(name); n != 0 {
			t.Errorf("%q is number %d", name, n)
		}
	}
}

// A file has one result of each row, the newest, in the order of the rows.
func TestKeep(t *testing.T) {
	path := filepath.Join(t.TempDir(), "raw.jsonl")
	newer := result("P2")
	newer.Commit = "newer"
	for _, res := range []Result{result("S1"), result("P10"), result("P2"), result("P1"), newer} {
		if err := Keep(path, res); err != nil {
			t.Fatal(err)
		}
	}
	got, err := ReadFile(path)
	if want := []Result{result("P1"), newer, result("P10"), result("S1")}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v (%v), want %v", got, err, want)
	}
	if err := os.WriteFile(path, []byte("notes\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := Keep(path, newer); err == nil || !strings.Contains(err.Error(), "raw.jsonl: line 1") {
		t.Errorf("kept among notes: %v", err)
	}
}

func TestThisMachine(t *testing.T) {
	if m := ThisMachine(); m.CPU == "" || m.Cores < 1 || m.System == "" || m.Kernel == "" {
		t.Errorf("%+v", m)
	}
}
