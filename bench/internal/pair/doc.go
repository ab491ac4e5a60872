// Package pair compares two or more ways of doing the same work inside one process.
//
// A [Row] is a headline: P1, P2 … It runs in rounds. In each round every side has its turn, ours and the rivals one
// after the other, so that whatever the machine does meanwhile happens to all of them. The first round warms up and
// is not counted. A side's figure is its median over the rounds; a ratio is the median of the ratios round by round,
// and its spread is the quartiles of these.
//
// # How to add a row
//
// One file in internal/rows, and its name in rows.All:
//
//	var p5 = pair.Row{
//		Name: "P5", Title: "Err of an observed scope", Quick: true,
//		Run: func(r *pair.Run) error {
//			std, stop := context.WithTimeout(context.Background(), time.Hour)
//			defer stop()
//			s := bide.Open(context.Background(), bide.Timeout(time.Hour))
//			defer s.Close(nil)
//			s.Done()
//			for r.Next() {
//				r.Op("ctx.Err", func(n int) {
//					for range n {
//						_ = std.Err()
//					}
//				})
//				r.Op("Scope.Err", func(n int) {
//					for range n {
//						_ = s.Err()
//					}
//				})
//			}
//			return nil
//		},
//		Lines: []pair.Line{
//			{Case: "depth 1", Ours: "Scope.Err", Rival: "ctx.Err", Of: pair.Ns, Target: pair.Within(1.1)},
//			{Case: "depth 1", Ours: "Scope.Err", Of: pair.Bytes, Target: pair.AtMost(0)},
//		},
//	}
//
// A row whose name begins with S shows a scale or a condition: nothing in it has a target.
//
// Each clause of a target is a [Line], so that the worst can be told. A line without a target is shown and not judged.
// [Run.Op] measures n operations: [Ns], [CPU], [Bytes] and [Allocs] of each. What measures itself (lateness, memory)
// hands its figures to [Run.Record]; [CPUTime], [Heap] and [Lates] help. What stands around them in the loop is not
// measured: that is the place for what one side needs and the other must not meet. What comes after an "@" in a name
// says under which condition the figures were taken, and is not printed: the line's Case says it in words.
//
// Loops of rounds may follow each other, for conditions that leave something behind: the worst comes last.
//
// # What makes figures comparable
//
//   - A row has a process of its own: goroutines, heap and processors are as the row wants them, and what another row
//     left behind is not in its figures. With Fresh every round has one.
//   - The collector runs before each measurement. An operation that allocates is repeated until two whole cycles of it
//     are in the figure, since with many objects alive a cycle costs more than what is measured.
//   - What waits is compared by the processor's time: the wall clock shows the waiting.
//   - Figures never decide the exit status.
package pair
