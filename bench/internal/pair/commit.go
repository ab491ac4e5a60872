package pair

import (
	"os/exec"
	"runtime/debug"
	"strings"
)

// Commit is what the figures belong to: of the build if it was stamped, else of the checkout, with "+" if files have
// changed since. Raw results and what is drawn from them do not count as changes.
func Commit() string {
	rev, changed := "", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				rev = s.Value
			case s.Key == "vcs.modified" && s.Value == "true":
				changed = "+"
			}
		}
	}
	if rev == "" {
		rev, changed = ofCheckout()
	}
	return rev[:min(len(rev), 12)] + changed
}

func ofCheckout() (rev, changed string) {
	out, err := exec.Command("git", "rev-parse", "HEAD").Output()
	if err != nil {
		return "unknown", ""
	}
	diff, err := exec.Command("git", "status", "--porcelain", "--untracked-files=no", "--",
		":(top)", ":(top,exclude)docs", ":(top,exclude)README.md").Output()
	if err == nil && len(diff) > 0 {
		changed = "+"
	}
	return strings.TrimSpace(string(out)), changed
}
