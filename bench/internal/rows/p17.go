package rows

import (
	"context"
	"io"
	"net"
	"slices"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/bench/internal/pair"
	"bide.invalid/bide/netio"
)

// P17: a write of 64 bytes and a read of 64, over TCP on loopback, each under the caller's bound. One goroutine has both
// ends, so nothing waits, and what a bound costs is what the two take more. That is a hundredth of what the kernel takes
// for them: the sides take turns within milliseconds, and the figure is the median of their differences.
var p17 = pair.Row{
	Name: "P17", Title: "bound a write and a read of 64 bytes",
	Run: runP17,
	Lines: []pair.Line{
		{Case: "one operation, over none", Ours: "scope, more", Of: pair.Ns, Target: pair.AtMost(25)},
		{Case: "one operation, over none", Ours: "SetDeadline, more", Of: pair.Ns},
		{Case: "write and read", Ours: "scope", Rival: "none", Of: pair.Ns},
		{Case: "write and read", Ours: "scope", Rival: "SetDeadline", Of: pair.Ns},
		{Case: "write and read", Ours: "scope", Of: pair.Bytes, Target: pair.AtMost(0)},
	},
}

func runP17(r *pair.Run) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer l.Close()
	a, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		return err
	}
	defer a.Close()
	b, err := l.Accept()
	if err != nil {
		return err
	}
	defer b.Close()
	scope := bide.Open(context.Background(), bide.Timeout(time.Hour))
	defer scope.Close(nil)
	at, _ := scope.Deadline()
	w, read := netio.New(a), netio.New(b)
	var failed error
	note := func(_ int, err error) {
		if err != nil {
			failed = err
		}
	}
	var buf, in [64]byte
	none := func(n int) {
		for range n {
			note(a.Write(buf[:]))
			note(io.ReadFull(b, in[:]))
		}
	}
	deadlines := func(n int) {
		for range n {
			note(0, a.SetWriteDeadline(at))
			note(a.Write(buf[:]))
			note(0, b.SetReadDeadline(at))
			note(io.ReadFull(b, in[:]))
		}
	}
	bounded := func(n int) {
		for range n {
			note(w.WriteContext(scope, buf[:]))
			for got := 0; got < len(in) && failed == nil; {
				k, err := read.ReadContext(scope, in[got:])
				got += k
				note(k, err)
			}
		}
	}
	for r.Next() {
		r.Op("none", none)
		r.Op("SetDeadline", deadlines)
		a.SetDeadline(time.Time{})
		b.SetDeadline(time.Time{})
		r.Op("scope", bounded)

		n := r.Scale(100)
		var ours, theirs []float64
		each := func(op func(n int)) float64 {
			op(n / 5) // whoever comes after another has its code to load
			start := time.Now()
			op(n)
			return float64(time.Since(start)) / float64(2*n)
		}
		// Each between two turns of none: whatever drifts in the meantime is in both sides of the difference.
		before := each(none)
		for range r.Scale(400) {
			scoped := each(bounded)
			between := each(none)
			set := each(deadlines)
			a.SetDeadline(time.Time{})
			b.SetDeadline(time.Time{})
			after := each(none)
			ours = append(ours, scoped-(before+between)/2)
			theirs = append(theirs, set-(between+after)/2)
			before = after
		}
		r.Record("scope, more", pair.Figures{pair.Ns: median(ours)})
		r.Record("SetDeadline, more", pair.Figures{pair.Ns: median(theirs)})
	}
	return failed
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}
