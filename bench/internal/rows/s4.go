package rows

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"bide.invalid/bide/bench/internal/pair"
	"bide.invalid/bide/timer"
)

// S4: how late five hundred timers are that come within a quarter of a second, on an idle machine, while all processors compute
// (golang/go#38860), and while the collector runs all the time.
var s4 = pair.Row{
	Name: "S4", Title: "lateness: idle, all processors busy, the collector running", Procs: 2, Rounds: 5,
	Run:   runS4,
	Lines: linesS4(),
}

// A load is what else the process does meanwhile.
type load struct {
	name  string
	start func(over *atomic.Bool, group *sync.WaitGroup)
}

var loads = []load{
	{"idle", func(*atomic.Bool, *sync.WaitGroup) {}},
	{"all processors busy", func(over *atomic.Bool, group *sync.WaitGroup) {
		for range runtime.GOMAXPROCS(0) {
			group.Go(func() {
				for n := 0; !over.Load(); n++ {
				}
			})
		}
	}},
	{"the collector running", func(over *atomic.Bool, group *sync.WaitGroup) {
		group.Go(func() {
			live := make([]*[64]byte, 500_000) // 32 MB to mark
			for i := range live {
				live[i] = new([64]byte)
			}
			for !over.Load() {
				runtime.GC()
			}
			runtime.KeepAlive(live)
		})
	}},
}

const preciseTimer = "AfterFunc, precise"

func linesS4() (lines []pair.Line) {
	for _, l := range loads {
		at := "@" + l.name
		for _, ours := range []string{"owner", "AfterFunc", preciseTimer} {
			for _, p := range []float64{50, 99} {
				lines = append(lines, pair.Line{Case: ours + ", " + l.name, Ours: ours + at, Rival: stdExpires + at, Of: pair.Late(p)})
			}
		}
	}
	return lines
}

func runS4(r *pair.Run) error {
	n, span := r.Scale(500), time.Duration(r.Scale(int(250*time.Millisecond)))
	methods := []method{expiring[0], expiring[1], expiring[3], {preciseTimer, ourCrowd(timer.Tolerance(0))}}
	for _, l := range loads {
		var over atomic.Bool
		var group sync.WaitGroup
		l.start(&over, &group)
		err := late(r, methods, "@"+l.name, n, span)
		over.Store(true)
		group.Wait()
		if err != nil {
			return err
		}
	}
	return nil
}

// late lets n timers come due within span, by each method.
func late(r *pair.Run, methods []method, at string, n int, span time.Duration) error {
	for r.Next() {
		for _, m := range methods {
			f, err := expire(m, n, span)
			if err != nil {
				return err
			}
			delete(f, pair.CPU) // the load's as well
			r.Record(m.name+at, f)
		}
	}
	return nil
}
