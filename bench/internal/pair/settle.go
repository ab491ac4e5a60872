package pair

import (
	"runtime"
	"time"
)

// Settle lets happen now what was left behind: the collector's cycle with its sweep, and the runtime's sweep of
// stopped timers, for which the scheduler has to look at them.
func Settle() {
	runtime.GC()
	time.Sleep(2 * time.Millisecond)
	runtime.GC()
}

// Heap is how many bytes are allocated and reachable.
func Heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
