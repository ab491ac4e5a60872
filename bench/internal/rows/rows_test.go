package rows

import (
	"testing"

	"bide.invalid/bide/bench/internal/pair"
)

// TestRowsInRealTime runs every row with a thousandth of its work: whatever a line compares has to be measured. What the
// figures are is of no interest.
func TestRowsInRealTime(t *testing.T) {
	names := map[string]bool{}
	for _, row := range All {
		if names[row.Name] {
			t.Errorf("two rows are called %s", row.Name)
		}
		names[row.Name] = true
		t.Run(row.Name, func(t *testing.T) {
			t.Parallel()
			m, err := pair.Measure(row, pair.Plan{Rounds: 1, Divide: 1000})
			if err != nil {
				t.Fatal(err)
			}
			verdicts, missing := row.Judge(m)
			for _, l := range missing {
				t.Errorf("%s: no figures %s of %s and %s", l.Case, l.Of.Name, l.Ours, l.Rival)
			}
			judged := 0
			for _, v := range verdicts {
				if v.Judged() {
					judged++
				}
			}
			if headline := row.Name[0] == 'P'; headline != (judged > 0) {
				t.Errorf("%d lines have targets, of a row that is %s", judged, row.Name)
			}
		})
	}
}
