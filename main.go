package bide

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"bide.invalid/bide/timer"
)

// defaultGrace is less than the ten seconds after which docker stop and some platforms kill, and the thirty of others.
const defaultGrace = 8 * time.Second

// unwinding is what is left to Main's function after the hard end. Grace, unwinding and the report stay below grace and
// a second.
const unwinding = 500 * time.Millisecond

// Grace is how long [Main] lets its function go on after a signal; eight seconds if it is not given, since some
// platforms kill after ten. Zero or negative: the signal cancels at once ([BySignal]).
func Grace(d time.Duration) Option { return Option{kind: optGrace, n: int64(d)} }

// Signals are those that make [Main] stop, instead of SIGINT and SIGTERM.
func Signals(sigs ...os.Signal) Option {
	if len(sigs) == 0 {
		panic("bide: Signals: none is given")
	}
	return Option{kind: optSignals, of: slices.Clone(sigs)}
}

// Main is the body of a program's main function: it runs f in a scope, has it stopped by SIGINT and SIGTERM, and exits
// the process.
//
//	func main() { bide.Main(serve) }
//
// The first signal is a [Scope.Stop]: [Draining] is closed, and after the grace everything is canceled, through
// shields, with the signal in the reason. Whoever is left then is logged to slog.Default: the scopes, what they wait
// for, and the stacks of their goroutines. If f has not returned half a second later the process exits without it. A
// second signal exits at once. The hard end of a Stop that f itself has called is treated in the same way.
//
// The exit code is
//
//   - 0 if f has returned nil, also after a signal, or what an explicit Cancel of the scope has caused;
//   - 128 and the number of the signal if after a signal f has returned nothing but cancellations, or has not returned
//     in time; also at the second signal. (143 for SIGTERM, 130 for SIGINT.) 1 in the place of that after a Stop
//     without a signal;
//   - otherwise f has failed, and its error is logged to slog.Default. If [errors.As] finds an error with a method
//     ExitCode() int in it, that is the code if it is from 0 to 255; else the code is 1. A cleanup that the hard end
//     has cut, a [*TimeoutError] of its shield, is a failure.
//
// A signal that the process was started to ignore is still ignored. f runs on the calling goroutine; one other waits
// for the signals. If f panics, Main stops catching signals and lets the panic pass. Deferred calls of main do not run.
// The scope always has the options [Account] and [Stacks], and the name "main" unless another is given.
//
// Options: Name, Clock, Account, Labels, Grace, Signals.
func Main(f func(ctx context.Context) error, opts ...Option) {
	if f == nil {
		panic("bide: Main: nil function")
	}
	m := newProgram(opts)
	m.exit(m.listenAndRun(f))
}

// A program is a call of Main.
type program struct {
	scope   *Scope
	grace   time.Duration
	sigs    []os.Signal
	exit    func(code int)
	log     func() *slog.Logger
	signals chan os.Signal

	number atomic.Int32                // of the latest signal
	unwind atomic.Pointer[timer.Timer] // since the hard end
	left   atomic.Bool                 // f has, in whatever way
	logged bool                        // the report; listen's, until it has ended
}

func newProgram(opts []Option) *program {
	m := &program{
		scope:   &(&named{}).Scope,
		grace:   defaultGrace,
		sigs:    []os.Signal{os.Interrupt, syscall.SIGTERM},
		exit:    os.Exit,
		log:     slog.Default,
		signals: make(chan os.Signal, 2),
	}
	m.scope.open(&callMain, context.Background(), opts)
	if m.scope.Name() == "" {
		m.scope.setName("main")
		m.scope.extend()
	}
	for _, o := range opts {
		switch o.kind {
		case optGrace:
			m.grace = o.d()
		case optSignals:
			m.sigs = o.of.([]os.Signal)
		}
	}
	return m
}

// listenAndRun runs f while signals come in, and returns the exit code.
func (m *program) listenAndRun(f func(context.Context) error) (code int) {
	sigs := slices.DeleteFunc(slices.Clone(m.sigs), signal.Ignored)
	if len(sigs) > 0 { // Notify takes none for all
		signal.Notify(m.signals, sigs...)
		defer signal.Stop(m.signals)
	}
	return m.run(f)
}

func (m *program) run(f func(context.Context) error) (code int) {
	hard := make(chan struct{}, 1)
	m.scope.halting().hook = func() { // once, on any goroutine; perhaps when f has panicked, and somebody has recovered
		t := timer.AfterFunc(unwinding, m.leave, timer.On(m.scope.timers().Clock()))
		m.unwind.Store(t)
		if m.left.Load() {
			t.Stop()
		}
		hard <- struct{}{}
	}
	returned, over := make(chan struct{}), make(chan struct{})
	var listeners sync.WaitGroup
	defer listeners.Wait()
	defer close(over)
	next := func() { listeners.Go(func() { m.second(over) }) }
	ended := make(chan struct{})
	listeners.Go(func() {
		defer close(ended)
		m.listen(hard, returned, next)
	})
	var result error
	err := func() error {
		defer func() {
			m.left.Store(true)
			if t := m.unwind.Load(); t != nil {
				t.Stop()
			}
			close(returned)
			<-ended
		}()
		return m.scope.run(func(ctx context.Context) error {
			result = f(ctx)
			return result
		})
	}()
	if m.number.Load() == 0 {
		next() // in case nobody reads what is told now
	}
	m.report()
	return m.code(result, err)
}

// code is the exit code for what f has returned, and what its scope has made of it.
func (m *program) code(result, err error) int {
	st := m.scope.stopping()
	ended := m.number.Load() != 0 || st != nil && st.fired.Load()
	if ended && result != nil {
		if rest, _ := split(err, (*Canceled).made); rest == nil {
			return m.stopped()
		}
	}
	if err == nil {
		return 0
	}
	m.log().Error("bide: "+m.scope.Name()+" has failed", "error", err)
	var coder interface{ ExitCode() int }
	if errors.As(err, &coder) {
		if c := coder.ExitCode(); 0 <= c && c <= 255 {
			return c
		}
	}
	return 1
}

// stopped is the exit code of a program that was ended by a Stop.
func (m *program) stopped() int {
	if n := m.number.Load(); n > 0 {
		return 128 + int(n)
	}
	return 1
}

// number is that of a signal; -1 if it has none.
func number(sig os.Signal) int32 {
	if n, ok := sig.(syscall.Signal); ok {
		return int32(n)
	}
	return -1
}

// listen waits for the first signal, which it has next take over from, and for the hard end, until f has returned.
func (m *program) listen(hard, returned <-chan struct{}, next func()) {
	signals := m.signals
	for {
		select {
		case sig := <-signals:
			signals = nil
			m.number.Store(number(sig))
			next() // before anything is told, which may block
			m.stop(sig)
		case <-hard:
			m.report()
		case <-returned:
			return
		}
	}
}

// second waits for a signal that ends everything at once.
func (m *program) second(over <-chan struct{}) {
	select {
	case sig := <-m.signals:
		m.number.Store(number(sig))
		m.exit(m.stopped())
	case <-over:
	}
}

// leave exits without f. It says so, unless whoever reads that is stuck as well.
func (m *program) leave() {
	told := make(chan struct{})
	go func() {
		defer close(told)
		m.log().Error("bide: "+m.scope.Name()+" has not returned since the hard stop: exiting without it", "after", unwinding)
	}()
	select {
	case <-told:
	case <-time.After(unwinding / 5):
	}
	m.exit(m.stopped())
}

// stop is what the first signal does.
func (m *program) stop(sig os.Signal) {
	source, reason := ByShutdown, error(signalError{sig})
	if m.grace <= 0 {
		source = BySignal
	}
	m.scope.stop(source, m.grace, reason)
	m.log().Info("bide: stopping", "scope", m.scope.Name(), "reason", reason, "grace", max(0, m.grace))
}

// report tells who was left at the hard end, once.
func (m *program) report() {
	if r := m.scope.StopReport(); r != nil && !m.logged {
		m.logged = true
		r.log(m.log())
	}
}

// A signalError is the reason of a Stop by a signal.
type signalError struct{ os.Signal }

func (e signalError) Error() string { return e.String() + " signal received" }
