package plots

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"bide.invalid/bide/bench/internal/pair"
)

const (
	dir = "docs/benchmarks/"
	raw = dir + "raw.jsonl"
)

// Draw makes everything anew, in the checkout at root.
func Draw(root string, rows []pair.Row) error {
	files, err := render(root, rows)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := os.WriteFile(at(root, name), files[name], 0o666); err != nil {
			return err
		}
	}
	return nil
}

func at(root, name string) string { return filepath.Join(root, filepath.FromSlash(name)) }

// render is what Draw writes, by name.
func render(root string, rows []pair.Row) (map[string][]byte, error) {
	results, err := pair.ReadFile(at(root, raw))
	if err != nil {
		return nil, err
	}
	if len(results) == 0 {
		return nil, fmt.Errorf("no results in %s", raw)
	}
	p := &page{}
	for _, res := range results {
		rows, err := pair.Pick(rows, false, []string{res.Row})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", raw, err)
		}
		verdicts, _ := rows[0].Judge(res.Figures)
		p.parts = append(p.parts, part{rows[0], res, verdicts})
	}
	files := map[string][]byte{}
	for _, draw := range all {
		if plot, ok := draw.of(p); ok {
			files[dir+draw.name+".svg"] = plot.Draw()
			p.plots = append(p.plots, drawn{draw.name, plot.Title})
		}
	}
	files[dir+"README.md"] = p.markdown()
	for _, g := range guides {
		text, err := os.ReadFile(at(root, g.path))
		if errors.Is(err, fs.ErrNotExist) {
			continue // not written yet
		}
		if err == nil {
			text, err = between(text, g.of(p))
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", g.path, err)
		}
		files[g.path] = text
	}
	return files, nil
}
