package rows

import (
	"context"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/bench/internal/pair"
	"bide.invalid/bide/timer"
)

// P10: a precise sleep. Two processors, as a process has them that does something else as well.
var p10 = pair.Row{
	Name: "P10", Title: "a precise sleep", Quick: true, Procs: 2,
	Run:   runP10,
	Lines: linesP10(),
}

var sleeps = []time.Duration{50 * time.Microsecond, 100 * time.Microsecond, 200 * time.Microsecond,
	500 * time.Microsecond, time.Millisecond}

func linesP10() []pair.Line {
	var lines []pair.Line
	for _, d := range sleeps {
		at := "@" + d.String()
		add := func(rival string, of pair.Metric, t pair.Target) {
			if rival != "" {
				rival += at
			}
			lines = append(lines, pair.Line{Case: d.String(), Ours: "bide.Sleep" + at, Rival: rival, Of: of, Target: t})
		}
		var faster pair.Target
		if d == 100*time.Microsecond {
			faster = pair.AtLeast(20)
		}
		add("", pair.Late(50), pair.AtMost(float64(40*time.Microsecond)))
		add("time.Sleep", pair.Late(50), faster)
		add("time.Sleep", pair.Late(99), pair.Target{})
		add("time.Sleep", pair.CPU, pair.Within(1.3))
	}
	return lines
}

func runP10(r *pair.Run) error {
	n := r.Scale(100)
	if r.Quick() {
		n = r.Scale(40)
	}
	ctx := context.Background()
	for r.Next() {
		for _, d := range sleeps {
			f, err := sleep(n, d, func(d time.Duration) error { time.Sleep(d); return nil })
			if err != nil {
				return err
			}
			r.Record("time.Sleep@"+d.String(), f)
			f, err = sleep(n, d, func(d time.Duration) error { return bide.Sleep(ctx, d, timer.Tolerance(0)) })
			if err != nil {
				return err
			}
			r.Record("bide.Sleep@"+d.String(), f)
		}
	}
	return nil
}

// sleep sleeps n times.
func sleep(n int, d time.Duration, f func(time.Duration) error) (pair.Figures, error) {
	late := make([]int64, n)
	before, err := pair.CPUTime()
	if err != nil {
		return nil, err
	}
	for i := range late {
		start := time.Now()
		if err := f(d); err != nil {
			return nil, err
		}
		late[i] = int64(time.Since(start) - d)
	}
	after, err := pair.CPUTime()
	figures := pair.Lates(late)
	figures[pair.CPU] = float64(after-before) / float64(n)
	return figures, err
}
