//go:build !bidestep

package step

import "sync"

// On is true where steps are compiled in.
const On = false

// At is nothing here.
func At(string) {}

// A Mutex is a sync.Mutex here.
type Mutex = sync.Mutex
