//go:build !linux

package pair

import "runtime"

// ThisMachine says what Go knows of the machine.
func ThisMachine() Machine {
	return Machine{CPU: "unknown", Cores: runtime.NumCPU(), System: runtime.GOOS + "/" + runtime.GOARCH, Kernel: "unknown"}
}
