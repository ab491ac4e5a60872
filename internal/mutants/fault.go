package main

// A fault is one change of the source that some test has to notice.
type fault struct {
	file string // relative to the module's root
	old  string // occurs there exactly once
	new  string
	why  string // what it breaks: also its name

	pkg  string // the tests that have to notice: of this package
	run  string // with these names
	tags string // compiled with these tags: model, or none
}

// model is where a model of all schedules (internal/sim) is to notice: other tests would need luck.
const model = "bidestep,bideinvariant"

// faults are all of them.
func faults() []fault {
	var all []fault
	for _, some := range [][]fault{parkFaults, timerFaults, lockFaults, signalFaults, handoverFaults, scopeFaults, nurseryFaults, netioFaults, httpioFaults, execioFaults} {
		all = append(all, some...)
	}
	return all
}
