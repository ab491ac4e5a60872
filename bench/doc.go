// Package bench is the root of a module of its own, so that what the comparisons need reaches no user of the library.
//
//	cmd/bench       runs rows, both sides of each in one process, and says whether their targets are met
//	cmd/plots       draws docs/benchmarks from the raw results that are kept there
//	cmd/soak        keeps 50 thousand idle timeouts for minutes, and fails if memory or lateness grows
//	cmd/replay      plays traces of timers on every queue
//	internal/pair   the harness: rounds, figures, targets, raw results; its doc.go says how to add a row
//	internal/rows   the rows, a file each
//	internal/plots  the page, the tables and what is plotted
//	internal/svg    line plots as SVG
//
// Its own tests are those of scopes together with golang.org/x/sync.
package bench
