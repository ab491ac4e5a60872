package syncs_test

import (
	"context"
	"sync/atomic"
	"testing"

	"bide.invalid/bide/syncs"
)

// ClickHouse/clickhouse-go#1759. A request took a slot of the pool, looked at its context, and if that was done returned
// its error and kept the slot. After as many unlucky requests as there were slots, nobody got a connection any more.
//
// Here slots are taken, connections made, lent, broken and given back while contexts end at every moment in between. At
// the end all slots are there: as many can be lent at once as at the beginning.
func TestReportClickHouseGo1759(t *testing.T) {
	const slots = 2
	for _, x := range contexts {
		var made atomic.Int64
		p := &syncs.Pool[int64]{Max: slots, New: func(ctx context.Context) (int64, error) {
			for range made.Load() % 5 {
				yield()
			}
			if made.Add(1)%7 == 0 {
				return 0, errRefused
			}
			return made.Load(), nil
		}}
		got, gone := 0, 0
		for i := range some(1000) {
			ctx, cancel := x.make(t)
			racers := race(func() bool { return true }, func() {
				for range i % 6 {
					yield()
				}
				cancel()
			})
			for range i % 4 {
				yield()
			}
			switch c, err := p.Get(ctx); {
			case err == nil && i%3 == 0:
				p.Drop(c)
				got++
			case err == nil:
				p.Put(c)
				got++
			default:
				gone++
			}
			racers.Wait()
		}
		var all []int64
		for len(all) < slots { // hangs if one is gone
			if c, err := p.Get(bg); err == nil {
				all = append(all, c)
			} else if err != errRefused {
				t.Fatal(err)
			}
		}
		for _, c := range all {
			p.Put(c)
		}
		shut(t, p)
		t.Logf("%s: got it %d times, gone without %d times", x.name, got, gone)
	}
}
