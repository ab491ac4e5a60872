package clock

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"bide.invalid/bide/internal/stress"
)

// A modelTimer does what the kernel and the poller do with a timerfd, on a clock that the test may step.
type modelTimer struct {
	m    *model
	wake chan struct{} // a reader looks again

	mu      sync.Mutex
	at      Instant // Forever: not set
	expired bool
	stepped bool // cancel-on-set
	stopped bool
	closed  bool
	t       *time.Timer
}

func (k *modelTimer) settime(at Instant) error {
	if k.m.broken {
		return errRefused
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.at, k.expired, k.stopped, k.stepped = at, false, false, false
	k.evaluate()
	return nil
}

// evaluate is what the kernel does when it is set, when its interrupt comes, and after a step.
//
// Preconditions: mu held.
func (k *modelTimer) evaluate() {
	if k.t != nil {
		k.t.Stop()
	}
	if k.at == Forever {
		return
	}
	if d := k.at.Sub(k.m.now()); d > 0 {
		k.t = time.AfterFunc(d, func() {
			k.mu.Lock()
			defer k.mu.Unlock()
			k.evaluate()
		})
		return
	}
	k.at, k.expired = Forever, true
	k.poke()
}

func (k *modelTimer) poke() {
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

func (k *modelTimer) step() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.m.cancels && (k.at != Forever || k.expired) {
		k.stepped = true
		k.poke()
	}
	k.evaluate()
}

func (k *modelTimer) stop() error {
	if k.m.broken {
		return errRefused
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.at, k.stopped = Forever, true
	k.evaluate()
	k.poke()
	return nil
}

func (k *modelTimer) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.at, k.closed = Forever, true
	k.evaluate()
	k.poke()
}

// answer is what read returns, if it returns.
func (k *modelTimer) answer() (err error, some bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.closed:
		return os.ErrClosed, true
	case k.stopped:
		return os.ErrDeadlineExceeded, true
	case k.stepped:
		k.stepped, k.expired = false, false
		return unix.ECANCELED, true
	case k.expired:
		k.expired = false
		return nil, true
	}
	return nil, false
}

func (k *modelTimer) read() error {
	for {
		if err, some := k.answer(); some {
			k.m.gate.pass()
			return err
		}
		<-k.wake
	}
}

// A gate keeps goroutines between read and their look.
type gate struct {
	mu   sync.Mutex
	shut chan struct{} // nil: open
}

func (g *gate) pass() {
	g.mu.Lock()
	shut := g.shut
	g.mu.Unlock()
	if shut != nil {
		<-shut
	}
}

func (g *gate) toggle() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut == nil {
		g.shut = make(chan struct{})
		return
	}
	close(g.shut)
	g.shut = nil
}

// A model is an alarm on such a timer, and what is expected of it: want is the only state.
type model struct {
	a       *timerfdAlarm
	cancels bool // timers report steps
	offset  time.Duration
	broken  bool
	timers  []*modelTimer
	gate    gate

	mu     sync.Mutex
	want   Instant // Forever: no call is owed
	faults []string
}

// now is read while nobody steps the clock: a step comes when all are at rest.
func (m *model) now() Instant { return Now().Add(m.offset) }

func newModel(cancels bool) *model {
	m := &model{cancels: cancels, want: Forever}
	m.a = newTimerfdAlarm(&kernelClock{now: m.now}, m.called)
	m.a.open = func() (kernelTimer, error) {
		if m.broken {
			return nil, errRefused
		}
		k := &modelTimer{m: m, at: Forever, wake: make(chan struct{}, 1)}
		m.timers = append(m.timers, k)
		return k, nil
	}
	return m
}

func (m *model) fault(format string, args ...any) {
	m.faults = append(m.faults, fmt.Sprintf(format, args...))
}

// called is the alarm's function. One call is owed for the last Set, not before its time.
func (m *model) called(now Instant) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.want == Forever:
		m.fault("called, and nothing is set")
	case now < m.want:
		m.fault("called %v early", m.want.Sub(now))
	}
	m.want = Forever
}

func (m *model) set(at Instant) {
	m.mu.Lock()
	m.want = at
	m.mu.Unlock()
	m.a.set(at)
}

func (m *model) step(d time.Duration) {
	m.offset += d
	for _, k := range m.timers {
		k.step()
	}
}

// rest lets everybody come to rest. Then nothing that is due may be left, unless the gate is shut, and no goroutine if
// nothing is set.
func (m *model) rest() {
	synctest.Wait()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.a.mu.Lock()
	defer m.a.mu.Unlock()
	if m.gate.shut != nil {
		return
	}
	if m.want <= m.now() {
		m.fault("%v late", m.now().Sub(m.want))
	}
	if m.want == Forever && m.a.waiting {
		m.fault("a goroutine stays")
	}
}

// The operations. Steps and a failing timer do not go together: a portable alarm in a bubble does not see steps.
var modelOps = []struct {
	name string
	op   func(m *model)
}{
	{"set in 10", func(m *model) { m.set(m.now().Add(10)) }},
	{"set in 25", func(m *model) { m.set(m.now().Add(25)) }},
	{"set to the past", func(m *model) { m.set(m.now().Add(-5)) }},
	{"clear", func(m *model) { m.set(Forever) }},
	{"sleep 10", func(m *model) { time.Sleep(10) }},
	{"gate", func(m *model) { m.gate.toggle() }},
	{"step forward", func(m *model) { m.step(15) }},
	{"step back", func(m *model) { m.step(-15) }},
	{"break", func(m *model) { m.broken = !m.broken }},
}

const (
	plainOps = 6
	stepOps  = 8
)

// A world says which operations there are, and whether steps are reported.
type world struct {
	cancels bool
	ops     []int
}

func worlds() []world {
	var steps []int
	for i := range stepOps {
		steps = append(steps, i)
	}
	breaks := append(append([]int(nil), steps[:plainOps]...), stepOps)
	return []world{{true, steps}, {false, steps}, {false, breaks}}
}

// play runs operations on a new alarm, then lets everything come that is set.
func (w world) play(t *testing.T, ops []int) {
	synctest.Test(t, func(t *testing.T) {
		m := newModel(w.cancels)
		for _, i := range ops {
			modelOps[i].op(m)
			m.rest()
		}
		if m.gate.shut != nil {
			m.gate.toggle()
		}
		m.rest()
		time.Sleep(time.Second)
		m.rest()
		if m.want != Forever {
			m.fault("never called")
		}
		m.a.set(Forever)
		m.rest()
		if len(m.faults) > 0 {
			var names []string
			for _, i := range ops {
				names = append(names, modelOps[i].name)
			}
			t.Fatalf("%s; steps reported: %v: %s", strings.Join(names, ", "), w.cancels, m.faults[0])
		}
	})
}

// TestTimerfdAllShort plays every sequence of a few operations.
func TestTimerfdAllShort(t *testing.T) {
	const long = 4
	for _, w := range worlds() {
		ops := make([]int, long)
		for n := range pow(len(w.ops), long) {
			for i := range ops {
				ops[i] = w.ops[n%len(w.ops)]
				n /= len(w.ops)
			}
			w.play(t, ops)
		}
	}
}

func pow(x, n int) int {
	y := 1
	for range n {
		y *= x
	}
	return y
}

// TestTimerfdModel plays long random ones.
func TestTimerfdModel(t *testing.T) {
	rng := stress.Source(t)(0)
	for range 1000 {
		w := worlds()[rng.IntN(3)]
		ops := make([]int, 5+rng.IntN(30))
		for i := range ops {
			ops[i] = w.ops[rng.IntN(len(w.ops))]
		}
		w.play(t, ops)
	}
}
