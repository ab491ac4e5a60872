package bide

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// codeError is an error with an exit code of its own.
type codeError int

func (e codeError) Error() string { return fmt.Sprint("code ", int(e)) }
func (e codeError) ExitCode() int { return int(e) }

// A fake is a program whose signals are sent by the test, and whose exit is noted.
type fake struct {
	*program
	mu  sync.Mutex
	out strings.Builder
	ret chan int // the exit code, of whoever comes first
}

func (f *fake) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.out.Write(p)
}

func (f *fake) text() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.out.String()
}

// start runs body as Main does; in a bubble.
func start(body func(ctx context.Context) error, opts ...Option) *fake {
	f := &fake{program: newProgram(opts)}
	log := slog.New(slog.NewTextHandler(f, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	f.log = func() *slog.Logger { return log }
	return f.begin(body)
}

func (f *fake) begin(body func(ctx context.Context) error) *fake {
	f.ret = make(chan int, 3)
	f.exit = func(code int) { f.ret <- code }
	f.signals = make(chan os.Signal, 2)
	go func() { f.ret <- f.run(body) }()
	synctest.Wait()
	return f
}

var errMain = errors.New("disk full")

func forever(ctx context.Context) error { return Sleep(ctx, 1000*time.Hour) }

// What the process exits with, and when, in every way that it can end.
func TestMainCodes(t *testing.T) {
	shielded := func(ctx context.Context) error {
		err := forever(ctx)
		return errors.Join(err, Shield(ctx, time.Hour, forever, Name("goodbye")))
	}
	drains := func(ret error) func(ctx context.Context) error {
		return func(ctx context.Context) error { <-Draining(ctx); return ret }
	}
	for _, x := range []struct {
		name  string
		body  func(ctx context.Context) error
		opts  []Option
		sigs  []os.Signal // a second apart
		code  int
		after time.Duration
		logs  []string // in this order
	}{
		{"nil", func(context.Context) error { return nil }, nil, nil, 0, 0, nil},
		{"an error", func(context.Context) error { return errMain }, nil, nil, 1, 0, []string{`level=ERROR msg="bide: main has failed" error="disk full"`}},
		{"an error with a code", func(context.Context) error { return fmt.Errorf("run: %w", codeError(3)) }, []Option{Name("tool")}, nil, 3, 0, []string{`msg="bide: tool has failed" error="run: code 3"`}},
		{"the code 0", func(context.Context) error { return codeError(0) }, nil, nil, 0, 0, []string{"has failed"}},
		{"the code 255", func(context.Context) error { return codeError(255) }, nil, nil, 255, 0, []string{"has failed"}},
		{"a code that is none", func(context.Context) error { return codeError(-1) }, nil, nil, 1, 0, []string{"has failed"}},
		{"a code that is too large", func(context.Context) error { return codeError(256) }, nil, nil, 1, 0, []string{"has failed"}},
		{"a cancellation of nobody's", func(context.Context) error { return context.Canceled }, nil, nil, 1, 0, []string{"has failed"}},
		{"an explicit Cancel", func(ctx context.Context) error { From(ctx).Cancel(nil); return Check(ctx) }, nil, nil, 0, 0, nil},
		{"a bound of its own, with the times", func(ctx context.Context) error { return FailAfter(ctx, time.Second, forever) }, nil, nil, 1, time.Second, []string{"timeout after 1s: sleep 1s"}},

		{"drained", drains(nil), nil, []os.Signal{syscall.SIGTERM}, 0, time.Second, []string{`level=INFO msg="bide: stopping" scope=main reason="terminated signal received" grace=8s`}},
		{"drained, with an error", drains(errMain), nil, []os.Signal{syscall.SIGTERM}, 1, time.Second, []string{"stopping", "disk full"}},
		{"drained, with a cancellation", drains(context.Canceled), nil, []os.Signal{syscall.SIGTERM}, 143, time.Second, []string{"stopping"}},
		{"the hard end", forever, nil, []os.Signal{syscall.SIGTERM}, 143, 9 * time.Second,
			[]string{"stopping", `level=ERROR msg="bide: hard stop" scope=main reason="terminated signal received" grace=8s left=1`, `msg="bide: left: main: open 9s, waiting for sleep"`, `msg="bide: goroutine" count=1 state="chan receive`}},
		{"the hard end, by SIGINT", forever, []Option{Grace(time.Minute)}, []os.Signal{syscall.SIGINT}, 130, 61 * time.Second, []string{"interrupt signal received", "grace=1m0s", "hard stop"}},
		{"the hard end, and a success", func(ctx context.Context) error { _ = forever(ctx); return nil }, nil, []os.Signal{syscall.SIGTERM}, 0, 9 * time.Second, []string{"hard stop"}},
		{"the hard end, and an error", func(ctx context.Context) error { return errors.Join(forever(ctx), codeError(7)) }, nil, []os.Signal{syscall.SIGTERM}, 7, 9 * time.Second, []string{"hard stop", `error="code 7"`}},
		{"the hard end cuts a shield", shielded, nil, []os.Signal{syscall.SIGTERM}, 1, 9 * time.Second, []string{"hard stop", `goodbye: cut after 0s; ended after 0s (shutdown of scope \"main\": terminated signal received)`}},
		{"no grace", forever, []Option{Grace(0)}, []os.Signal{syscall.SIGTERM}, 143, time.Second, []string{"grace=0s", "hard stop"}},
		{"less than no grace", forever, []Option{Grace(-1)}, []os.Signal{syscall.SIGTERM}, 143, time.Second, []string{"grace=0s", "hard stop"}},
		{"deaf", func(ctx context.Context) error { _ = forever(ctx); time.Sleep(time.Hour); return nil }, nil, []os.Signal{syscall.SIGTERM}, 143, 9500 * time.Millisecond, []string{"hard stop", `msg="bide: main has not returned since the hard stop: exiting without it" after=500ms`}},
		{"a second signal", forever, nil, []os.Signal{syscall.SIGTERM, syscall.SIGTERM}, 143, 2 * time.Second, []string{"stopping"}},
		{"a second signal, another", forever, nil, []os.Signal{syscall.SIGINT, syscall.SIGTERM}, 143, 2 * time.Second, []string{"stopping"}},
		{"a second signal, deaf", func(context.Context) error { time.Sleep(time.Hour); return nil }, []Option{Grace(0)}, []os.Signal{syscall.SIGTERM, syscall.SIGTERM}, 143, 1500 * time.Millisecond, []string{"hard stop", "has not returned"}},

		{"its own Stop", func(ctx context.Context) error { From(ctx).Stop(time.Second, errMain); return forever(ctx) }, nil, nil, 1, time.Second, []string{`msg="bide: hard stop" scope=main reason="disk full" grace=1s`}},
		{"its own Stop, and deaf", func(ctx context.Context) error { From(ctx).Stop(0, nil); time.Sleep(time.Hour); return nil }, nil, nil, 1, unwinding, []string{"hard stop", "has not returned"}},
		{"its own Stop, drained", func(ctx context.Context) error { From(ctx).Stop(time.Second, errMain); return nil }, nil, nil, 0, 0, nil},
		{"its own Stop, and a signal", func(ctx context.Context) error { From(ctx).Stop(time.Hour, errMain); return forever(ctx) }, nil, []os.Signal{syscall.SIGTERM}, 143, 9 * time.Second, []string{"terminated signal received", "hard stop"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				f := start(x.body, x.opts...)
				for _, sig := range x.sigs {
					time.Sleep(time.Second)
					f.signals <- sig
					synctest.Wait()
				}
				code := <-f.ret
				took := time.Since(begin)
				synctest.Wait()
				defer time.Sleep(2000 * time.Hour) // the process would be gone; here everybody comes to an end
				if code != x.code {
					t.Errorf("exit code %d, want %d", code, x.code)
				}
				if len(x.sigs) == 2 && x.after < 2*time.Second {
					took = x.after // the process is gone before the second signal
				}
				if took != x.after {
					t.Errorf("after %v, want %v", took, x.after)
				}
				text := f.text()
				rest := text
				for _, want := range x.logs {
					_, after, ok := strings.Cut(rest, want)
					if !ok {
						t.Errorf("no %q, or not in order, in\n%s", want, text)
						break
					}
					rest = after
				}
				if len(x.logs) == 0 && text != "" {
					t.Errorf("told: %s", text)
				}
				if n := strings.Count(text, "hard stop\""); n > 1 {
					t.Errorf("the report was told %d times:\n%s", n, text)
				}
			})
		})
	}
}

// full is a log that nobody reads, until it is closed.
type full chan struct{}

func (full) Enabled(context.Context, slog.Level) bool    { return true }
func (f full) Handle(context.Context, slog.Record) error { <-f; return nil }
func (f full) WithAttrs([]slog.Attr) slog.Handler        { return f }
func (f full) WithGroup(string) slog.Handler             { return f }

// Where nobody reads what is told, the grace ends all the same, a second signal is heard, and the end comes in time: also
// when it is f's error that cannot be told.
func TestMainNobodyReads(t *testing.T) {
	for _, x := range []struct {
		name string
		body func(ctx context.Context) error
		sigs int
		want time.Duration
	}{
		{"deaf", func(context.Context) error { time.Sleep(time.Hour); return nil }, 1, 9*time.Second + unwinding + unwinding/5},
		{"a second signal", func(context.Context) error { time.Sleep(time.Hour); return nil }, 2, 2 * time.Second},
		{"an error", func(context.Context) error { return errMain }, 1, time.Second},
		{"an error, drained", func(ctx context.Context) error { <-Draining(ctx); return errMain }, 2, 2 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			full := make(full)
			f := &fake{program: newProgram(nil)}
			f.log = func() *slog.Logger { return slog.New(full) }
			now := time.Now()
			f.begin(x.body)
			for range x.sigs {
				time.Sleep(time.Second)
				f.signals <- syscall.SIGTERM
			}
			if code := <-f.ret; code != 143 || time.Since(now) != x.want {
				t.Errorf("%s: exit code %d after %v, want %v", x.name, code, time.Since(now), x.want)
			}
			close(full)
			time.Sleep(2 * time.Hour)
		})
	}
}

// What the canceled see: the source, and the signal in the reason.
func TestMainSource(t *testing.T) {
	for grace, want := range map[time.Duration]Source{time.Second: ByShutdown, 0: BySignal} {
		synctest.Test(t, func(t *testing.T) {
			var err, shield error
			f := start(func(ctx context.Context) error {
				shield = Shield(ctx, time.Hour, func(ctx context.Context) error { err = forever(ctx); return err }, Name("goodbye"))
				return nil
			}, Grace(grace))
			f.signals <- syscall.SIGTERM
			<-f.ret
			var c *Canceled
			if !errors.As(err, &c) || c.Source != want || c.Scope != "main" || c.Reason.Error() != "terminated signal received" {
				t.Error(err)
			}
			var e *TimeoutError
			if !errors.As(shield, &e) || e.Scope != "goodbye" || e.Limit != grace {
				t.Error(shield)
			}
		})
	}
}

// A panic, or Goexit, of the body passes through, with nobody left behind.
func TestMainPanics(t *testing.T) {
	for _, leave := range []func(){func() { panic("a bug") }, func() { _ = WithNursery(context.Background(), nil) }} {
		synctest.Test(t, func(t *testing.T) {
			m := newProgram(nil)
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
				if m.scope.state.Load()&closed == 0 {
					t.Error("the scope is open")
				}
			}()
			m.run(func(ctx context.Context) error { leave(); return nil })
		})
	}
}

// Whoever recovers from a panic of the body goes on, also if the hard end comes at that moment or later: there is nobody
// whom Main waits for any more, and the process is not its to end.
func TestMainHardEndAfterAPanicBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newProgram(nil)
		m.exit = func(code int) { t.Errorf("exit with %d", code) }
		func() {
			defer func() { _ = recover() }()
			m.run(func(context.Context) error { panic("a bug") })
		}()
		m.scope.Stop(0, nil)
		time.Sleep(time.Hour)
	})
}

// The real thing runs in a process of its own: this test, again.
const mainEnv = "BIDE_TEST_MAIN"

var mains = map[string]func(){
	"serves":  func() { Main(saying(forever), Grace(50*time.Millisecond)) },
	"drains":  func() { Main(saying(func(ctx context.Context) error { <-Draining(ctx); return nil })) },
	"stuck":   func() { Main(saying(forever), Grace(time.Hour)) },
	"deaf":    func() { Main(saying(func(ctx context.Context) error { select {} }), Grace(0)) },
	"fails":   func() { Main(func(context.Context) error { return codeError(3) }) },
	"panics":  func() { Main(func(context.Context) error { panic("a bug") }) },
	"user":    func() { Main(saying(forever), Signals(os.Interrupt), Grace(0)) },
	"handled": func() { Main(saying(forever), Signals(syscall.SIGTERM), Grace(0)) },
	"ignores": func() {
		signal.Ignore(os.Interrupt)
		Main(func(ctx context.Context) error {
			p, _ := os.FindProcess(os.Getpid())
			_ = p.Signal(os.Interrupt)
			return saying(forever)(ctx)
		}, Grace(0))
	},
	"returned": func() { // nothing is caught any more, and nobody of ours runs
		newProgram(nil).listenAndRun(func(context.Context) error { return nil })
		nobodyLeft()
		_ = saying(forever)(context.Background())
	},
	"panicked": func() {
		func() {
			defer func() { _ = recover() }()
			newProgram(nil).listenAndRun(func(context.Context) error { panic("a bug") })
		}()
		nobodyLeft()
		_ = saying(forever)(context.Background())
	},
}

// nobodyLeft checks that no goroutine of a program is left.
func nobodyLeft() {
	if text := string(dump()); strings.Contains(text, "(*program)") {
		fmt.Fprintln(os.Stderr, text)
		os.Exit(1)
	}
}

// saying says when f runs.
func saying(f func(ctx context.Context) error) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		fmt.Fprintln(os.Stderr, "running")
		return f(ctx)
	}
}

func TestMainRealTime(t *testing.T) {
	if name := os.Getenv(mainEnv); name != "" {
		mains[name]()
		panic("Main has returned")
	}
	if runtime.GOOS == "windows" {
		t.Skip("processes cannot be sent these signals")
	}
	for _, x := range []struct {
		name string
		sigs []os.Signal
		code int // -1: ended by the signal
		says string
	}{
		{"serves", []os.Signal{syscall.SIGTERM}, 143, "bide: left: main"},
		{"serves", []os.Signal{syscall.SIGINT}, 130, "bide: hard stop"},
		{"drains", []os.Signal{syscall.SIGTERM}, 0, "bide: stopping"},
		{"stuck", []os.Signal{syscall.SIGTERM, syscall.SIGTERM}, 143, "bide: stopping"},
		{"stuck", []os.Signal{syscall.SIGINT, syscall.SIGINT}, 130, "bide: stopping"},
		{"deaf", []os.Signal{syscall.SIGTERM}, 143, "bide: main has not returned"},
		{"fails", nil, 3, "code 3"},
		{"panics", nil, 2, "panic: a bug"},
		{"user", []os.Signal{syscall.SIGINT}, 130, "bide: hard stop"},
		{"user", []os.Signal{syscall.SIGTERM}, -1, ""},
		{"handled", []os.Signal{syscall.SIGINT}, -1, ""},
		{"ignores", []os.Signal{syscall.SIGTERM}, 143, "terminated signal"},
		{"returned", []os.Signal{syscall.SIGTERM}, -1, ""},
		{"panicked", []os.Signal{syscall.SIGINT}, -1, ""},
	} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestMainRealTime$")
		cmd.Env = append(os.Environ(), mainEnv+"="+x.name)
		stderr, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		lines := bufio.NewScanner(stderr)
		next := func() bool {
			more := lines.Scan()
			text.WriteString(lines.Text() + "\n")
			return more
		}
		for i, sig := range x.sigs {
			// It runs, or has been told once: signals of a kind that come before they are taken are one.
			for told := []string{"running", "bide: stopping"}[i]; next() && !strings.Contains(lines.Text(), told); {
			}
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal("a signal cannot be sent:", err)
			}
		}
		for next() {
		}
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != x.code || !strings.Contains(text.String(), x.says) {
			t.Errorf("%s, %v: exit code %d, want %d, and %q in\n%s", x.name, x.sigs, code, x.code, x.says, text.String())
		}
	}
}
