package clock

import (
	"sync"
	"time"
)

// runtimeAlarm is an alarm over one runtime timer, made at the first Set and moved from then on. On Linux it comes
// up to a millisecond late.
type runtimeAlarm struct {
	f func(Instant)

	mu sync.Mutex
	t  *time.Timer // nil until the first Set
}

func (a *runtimeAlarm) Set(at Instant) {
	a.mu.Lock()
	defer a.mu.Unlock()
	d := at.Sub(Now())
	if a.t == nil {
		a.t = time.AfterFunc(d, func() { a.f(Now()) })
		return
	}
	a.t.Reset(d)
}

func (a *runtimeAlarm) Clear() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.t != nil {
		a.t.Stop()
	}
}
