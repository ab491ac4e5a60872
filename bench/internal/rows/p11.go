package rows

import (
	"time"

	"bide.invalid/bide/bench/internal/pair"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer"
)

// P11: a thousand ticks a second.
var p11 = pair.Row{
	Name: "P11", Title: "1 kHz periodic", Procs: 2,
	Run: runP11,
	Lines: []pair.Line{
		{Case: "a tick", Ours: "timer.Every", Of: pair.Late(50), Target: pair.AtMost(float64(50 * time.Microsecond))},
		{Case: "a tick", Ours: "timer.Every", Rival: "time.Ticker", Of: pair.Late(50)},
		{Case: "a tick", Ours: "timer.Every", Rival: "time.Ticker", Of: pair.Late(99)},
		{Case: "ticks neither called nor counted", Ours: "timer.Every", Of: lost, Target: pair.AtMost(0)},
		{Case: "ticks neither called nor counted", Ours: "timer.Every", Rival: "time.Ticker", Of: lost},
		{Case: "ticks without a call of their own", Ours: "timer.Every", Rival: "time.Ticker", Of: skipped},
		{Case: "a tick that came", Ours: "timer.Every", Rival: "time.Ticker", Of: pair.CPU, Target: pair.Within(1.5)},
	},
}

// Both are a second's, of a thousand ticks. A Ticker does not count what it skips.
var (
	lost    = pair.Metric{Name: "lost", Of: "lost silently"}
	skipped = pair.Metric{Name: "skipped", Of: "skipped"}
)

const period = time.Millisecond

func runP11(r *pair.Run) error {
	n := r.Scale(1000)
	for r.Next() {
		f, err := ticks(n, ticker)
		if err != nil {
			return err
		}
		r.Record("time.Ticker", f)
		if f, err = ticks(n, every); err != nil {
			return err
		}
		r.Record("timer.Every", f)
	}
	return nil
}

// A pulse is what came of some ticks.
type pulse struct {
	late   []int64 // of those that came
	told   int     // of the others, those that the side spoke of
	passed int     // all, by the clock
}

// ticks has n ticks pass, or a few more.
func ticks(n int, way func(n int) pulse) (pair.Figures, error) {
	before, err := pair.CPUTime()
	if err != nil {
		return nil, err
	}
	p := way(n)
	after, err := pair.CPUTime()
	came := len(p.late)
	of := func(ticks int) float64 { return float64(ticks) * 1000 / float64(p.passed) }
	f := pair.Lates(p.late)
	f[pair.CPU] = float64(after-before) / float64(came)
	f[skipped] = of(p.passed - came)
	f[lost] = of(p.passed - came - p.told)
	return f, err
}

// ticker: the time that a Ticker sends is when the tick was due, not when it was sent.
func ticker(n int) (p pulse) {
	start := time.Now()
	t := time.NewTicker(period)
	defer t.Stop()
	for p.passed < n {
		due := <-t.C
		p.late = append(p.late, int64(time.Since(due)))
		p.passed = int((due.Sub(start) + period/2) / period)
	}
	return p
}

func every(n int) (p pulse) {
	done := make(chan struct{})
	var first clock.Instant
	t := timer.Every(period, func(due clock.Instant, missed int) {
		if p.passed >= n {
			return
		}
		p.late = append(p.late, int64(clock.Now().Sub(due)))
		if p.passed == 0 {
			first = due.Add(-time.Duration(missed) * period)
		}
		p.told += missed
		if p.passed = 1 + int(due.Sub(first)/period); p.passed >= n {
			close(done)
		}
	}, timer.Tolerance(0))
	<-done
	t.StopWait()
	return p
}
