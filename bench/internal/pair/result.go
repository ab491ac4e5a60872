package pair

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"time"
)

// A Result is a row's raw result, a line of JSON. What it means (lines, targets) is the code's.
type Result struct {
	Row     string   `json:"row"`
	Title   string   `json:"title"`
	Date    string   `json:"date"`   // RFC 3339
	Commit  string   `json:"commit"` // with "+" if files were changed since
	Go      string   `json:"go"`
	Machine Machine  `json:"machine"`
	Procs   int      `json:"procs"` // GOMAXPROCS
	Quick   bool     `json:"quick,omitempty"`
	Figures Measured `json:"figures"`
}

// A Machine is what figures depend on most.
type Machine struct {
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
	System string `json:"system"` // system and processor, as Go names them
	Kernel string `json:"kernel"`
}

// Result is what is kept of a row.
func (row Row) Result(m Measured, plan Plan, commit string, at time.Time) Result {
	return Result{
		Row: row.Name, Title: row.Title, Date: at.UTC().Format(time.RFC3339), Commit: commit, Go: runtime.Version(),
		Machine: ThisMachine(), Procs: max(row.Procs, 1), Quick: plan.Quick, Figures: m,
	}
}

// Decode reads results. Of two of one row the last counts. They are sorted by row.
func Decode(r io.Reader) ([]Result, error) {
	var all []Result
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 64<<20)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var res Result
		if err := json.Unmarshal(lines.Bytes(), &res); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if number(res.Row) == 0 {
			return nil, fmt.Errorf("line %d: no result of a row", n)
		}
		all = put(all, res)
	}
	return all, lines.Err()
}

// Encode writes results, a line each.
func Encode(w io.Writer, all []Result) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, res := range all {
		if err := enc.Encode(res); err != nil {
			return err
		}
	}
	return nil
}

// put replaces the row's result, or files it by number.
func put(all []Result, res Result) []Result {
	i, there := slices.BinarySearchFunc(all, res.Row, func(r Result, name string) int { return before(r.Row, name) })
	if there {
		all[i] = res
		return all
	}
	return slices.Insert(all, i, res)
}

// ReadFile reads a file of results. One that is not there has none.
func ReadFile(path string) ([]Result, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all, err := Decode(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return all, nil
}

// Keep puts a result into a file, in the place of that row's earlier one.
func Keep(path string, res Result) error {
	all, err := ReadFile(path)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := Encode(&b, put(all, res)); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o666)
}
