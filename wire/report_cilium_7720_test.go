package wire

import (
	"log/slog"
	"testing"
	"time"
)

// cilium#7720 (kubeblocks#7956). Timeouts were given as numbers without a unit, meant as seconds, and taken for
// nanoseconds: everything timed out at once.
//
// In Go code a time.Duration is all that there is, and 30 is 30 ns: that is a linter's to see. From outside a deadline
// comes as text, and there a bare number is refused; with fields around it, too.
func TestReportCilium7720(t *testing.T) {
	old := slog.Default()
	slog.SetDefault(slog.New(slog.DiscardHandler)) // it warns
	defer slog.SetDefault(old)
	for _, text := range []string{
		"30", "30000000000", "30s", "0", "-1", "1e9", "v1;30", "v1;wall=30", "v1;wall=1767225600", "v1;wall=30s",
		"v1;timeout=30", "v1;boot=boot-1;boottime=30s;wall=2026-03-01T12:00:30Z",
	} {
		if left, err := parse(text, linux); err == nil || left != 0 {
			t.Errorf("%q is taken for %v", text, left)
		}
		t.Setenv(EnvDeadline, text)
		if left, ok := FromEnviron(); ok || left != 0 {
			t.Errorf("%q in the environment is taken for %v", text, left)
		}
		if v, ok := value(t, Environ(t.Context())); ok {
			t.Errorf("%q in the environment is handed on as %q", text, v)
		}
	}
	if left, err := parse(format(30*time.Second, linux), linux); err != nil || left != 30*time.Second {
		t.Errorf("30 s come back as %v, %v", left, err)
	}
}
