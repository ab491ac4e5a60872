package rows

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"bide.invalid/bide/bench/internal/pair"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/timer/queue"
)

// S5: how many shards a service is to have: 1, as the Go runtime had it up to 1.9, 64, as up to 1.13, or one a processor,
// as since then. A shard here is a lock and a wheel, and nothing else; all processors link and unlink, as fast as they
// can. Shards are chosen by processor, as the service does it, or in turn, which is what addresses would come to.
var s5 = pair.Row{
	Name: "S5", Title: "1 to 64 shards", Procs: runtime.NumCPU(),
	Run:   runS5,
	Lines: linesS5(),
}

var shardings = []int{1, 2, 4, 8, 16, 32, 64}

const (
	byProcessor = "by processor"
	inTurn      = "in turn"
)

func withShards(n int) string { return fmt.Sprintf("@shards: %d", n) }

func linesS5() (lines []pair.Line) {
	for _, n := range shardings {
		at := withShards(n)
		lines = append(lines, pair.Line{Case: byProcessor + ", " + at[1:], Ours: byProcessor + at, Rival: inTurn + at, Of: pair.Ns})
	}
	return lines
}

type shard struct {
	mu sync.Mutex
	w  queue.Wheel[struct{}]
	_  [64]byte // the next one's lock is in another cache line
}

func runS5(r *pair.Run) error {
	p, due := runtime.GOMAXPROCS(0), clock.Now().Add(time.Minute)
	for _, n := range shardings {
		shards := make([]shard, n)
		for i := range shards {
			shards[i].w.Init(20)
		}
		var turn atomic.Uint32
		spread := sync.Pool{New: func() any { return &shards[turn.Add(1)%uint32(n)] }}
		ofProcessor := func(int) *shard {
			sh := spread.Get().(*shard)
			spread.Put(sh)
			return sh
		}
		next := func(i int) *shard { return &shards[i%n] }
		for r.Next() {
			r.Op(byProcessor+withShards(n), func(ops int) { together(p, ops, func(ops int) { link(ops, due, ofProcessor) }) })
			r.Op(inTurn+withShards(n), func(ops int) { together(p, ops, func(ops int) { link(ops, due, next) }) })
		}
	}
	return nil
}

// link links and takes out, n times, now this and now that of some nodes. A node stays with the shard that it is given
// first, as the service's entries do.
func link(n int, due clock.Instant, pick func(i int) *shard) {
	var nodes [256]struct {
		queue.Node[struct{}]
		sh *shard
	}
	for i := range n {
		e := &nodes[i%len(nodes)]
		if e.sh == nil {
			e.sh = pick(i)
		}
		e.sh.mu.Lock()
		e.sh.w.Link(&e.Node, due)
		e.sh.mu.Unlock()
		e.sh.mu.Lock()
		e.sh.w.Unlink(&e.Node)
		e.sh.mu.Unlock()
	}
}
