package wire

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/clock"
)

// value is what Environ says, and whether it does; it must say it once.
func value(t *testing.T, env []string) (string, bool) {
	t.Helper()
	var found []string
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, EnvDeadline+"="); ok {
			found = append(found, v)
		}
	}
	if len(found) > 1 {
		t.Errorf("the variable is there %d times: %q", len(found), found)
	}
	return strings.Join(found, " "), len(found) > 0
}

func without(t *testing.T) {
	t.Helper()
	t.Setenv(EnvDeadline, "") // which restores it
	os.Unsetenv(EnvDeadline)
}

func TestEnviron(t *testing.T) {
	without(t)
	t.Setenv("WIRE_TEST", "kept")
	before := os.Environ()

	env := Environ(t.Context())
	if v, ok := value(t, env); ok || !slices.Contains(env, "WIRE_TEST=kept") {
		t.Errorf("without a deadline: %q", v)
	}
	_ = bide.FailAfter(t.Context(), time.Hour, func(ctx context.Context) error {
		env := Environ(ctx)
		v, _ := value(t, env)
		left, err := Parse(v)
		if err != nil || left > time.Hour || left < 59*time.Minute {
			t.Errorf("%q: %v, %v", v, left, err)
		}
		if !slices.Contains(env, "WIRE_TEST=kept") {
			t.Error("the environment is not kept")
		}
		_ = bide.Shield(ctx, time.Minute, func(ctx context.Context) error {
			v, _ := value(t, Environ(ctx))
			if left, err := Parse(v); err != nil || left > time.Minute {
				t.Errorf("in a shield: %v, %v", left, err)
			}
			return nil
		})
		return nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	v, _ := value(t, Environ(ctx))
	if left, err := Parse(v); err != nil || left > 0 {
		t.Errorf("canceled: %v, %v", left, err)
	}
	if !slices.Equal(os.Environ(), before) {
		t.Error("the process's own environment was changed")
	}
	if _, ok := FromEnviron(); ok {
		t.Error("inherited from nobody")
	}
}

// The earlier one wins, and the inherited one goes on as it is.
func TestNeverWidened(t *testing.T) {
	without(t)
	inherited := format(time.Minute, now())
	t.Setenv(EnvDeadline, inherited)
	for _, c := range []struct {
		own  time.Duration
		kept bool
	}{
		{time.Duration(clock.Forever), true}, {time.Hour, true}, {time.Second, false}, {0, false},
	} {
		_ = bide.Run(t.Context(), func(s *bide.Scope) error {
			if c.own != time.Duration(clock.Forever) {
				s.SetTimeout(c.own)
			}
			if v, _ := value(t, Environ(s)); (v == inherited) != c.kept {
				t.Errorf("own %v: %q, inherited %q", c.own, v, inherited)
			}
			return nil
		})
	}
	if left, ok := FromEnviron(); !ok || left > time.Minute || left < 50*time.Second {
		t.Errorf("FromEnviron: %v %v", left, ok)
	}
	t.Setenv(EnvDeadline, format(-time.Second, reading{wall: time.Now()}))
	if left, ok := FromEnviron(); !ok || left > -time.Second {
		t.Errorf("FromEnviron of one that has passed: %v %v", left, ok)
	}
}

// Garbage is warned about, once, and not handed on.
func TestGarbage(t *testing.T) {
	var log bytes.Buffer
	old := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	defer slog.SetDefault(old)
	warn = sync.Once{}
	t.Setenv(EnvDeadline, "soon")
	for range 3 {
		if left, ok := FromEnviron(); ok || left != 0 {
			t.Errorf("%v %v", left, ok)
		}
		if v, ok := value(t, Environ(t.Context())); ok {
			t.Errorf("handed on: %q", v)
		}
	}
	if text := log.String(); strings.Count(text, "WARN") != 1 || !strings.Contains(text, `BIDE_DEADLINE is ignored: \"soon\"`) {
		t.Errorf("logged %q", text)
	}
}
