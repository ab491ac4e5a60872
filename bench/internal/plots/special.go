package plots

import (
	"fmt"
	"strings"

	"bide.invalid/bide/bench/internal/pair"
	"bide.invalid/bide/timer/queue"
)

// rfc12 is the table that RFC 12 has: every queue, what P18 does to it, and how many are in.
func (p *page) rfc12() string {
	figures := p.figures("P18")
	doings, fillings := []string{"insert+delete", "insert+pop", "mixed"}, []int{100, 10_000, 1_000_000}
	lines := [][]string{append([]string{"queue"}, doings...), {"---", "---", "---", "---"}}
	for _, c := range queue.All() {
		line, measured := []string{c.Name}, false
		for _, doing := range doings {
			var at []string
			for _, n := range fillings {
				text := "–"
				if v, ok := figures.Median(fmt.Sprintf("%s@%s, %d", c.Name, doing, n), pair.Ns); ok {
					text, measured = plain(v), true
				}
				at = append(at, text)
			}
			line = append(line, strings.Join(at, " / "))
		}
		if measured {
			lines = append(lines, line)
		}
	}
	if len(lines) == 2 {
		return ""
	}
	return "## RFC 12's table\n\nEvery queue of package timer/queue that is meant for so many (P18): nanoseconds for a pair that leaves as\n" +
		"many in as before, at 100 / 10 000 / 1 000 000 pending.\n\n" + table(lines) + "\n"
}

// enough cores to show what is said of 8 processors.
const enough = 8

// limits says what the smallest of the machines cannot show.
func (p *page) limits() string {
	cores := enough
	for _, part := range p.parts {
		cores = min(cores, part.res.Machine.Cores)
	}
	if cores == enough {
		return ""
	}
	return fmt.Sprintf(`## What %[1]d cores cannot show

- How work spreads. With GOMAXPROCS above %[1]d, processors take turns on a core: S3 shows what more of them cost, not what
  they gain.
- Contention. No lock and no cache line is fought for by more than %[1]d at a time. With 4 to 64 goroutines P13 shows
  queues, not crowds, and S5 what a second core meets; how 16 cores meet in one shard is not known from here.
- An idle processor that takes over. Where all processors of the process are busy, all cores are: S4 is as late as the
  scheduler's time slices, and the kernel's.
- The collector beside the work. It takes a quarter of the processors, and from a small machine whatever is idle.

`, cores)
}
