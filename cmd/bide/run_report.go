package main

import (
	"encoding/json"
	"io"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"
)

// How a run has ended, in the report.
const (
	outcomeEnded    = "ended"          // the command, by itself
	outcomeTimeout  = "timeout"        // by the limit
	outcomeSignal   = "signal"         // by one that was sent to bide
	outcomeNoStart  = "not executable" // and so not started
	outcomeNotFound = "not found"
	outcomeFailed   = "failed" // bide itself
)

// A report collects what happened. The tree is told to end, and killed, by others than the goroutine that prints.
type report struct {
	limit *time.Duration // nil: none

	mu sync.Mutex
	reported
}

// reported is what is printed.
type reported struct {
	Outcome        string   `json:"outcome"`
	ExitCode       int      `json:"exit_code"` // of bide run
	Command        []string `json:"command"`
	CommandCode    *int     `json:"command_exit_code,omitempty"` // as shells tell it
	CommandSignal  string   `json:"command_signal,omitempty"`    // by which it ended
	LimitSeconds   *float64 `json:"limit_seconds,omitempty"`     // 0: the deadline that was inherited has passed
	ElapsedSeconds float64  `json:"elapsed_seconds"`
	Sent           []string `json:"signals_sent,omitempty"`
	Killed         []int    `json:"processes_killed,omitempty"`
	Errors         []string `json:"errors,omitempty"`
}

func (r *report) note(f func(*reported)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(&r.reported)
}

func (r *report) outcome(o string)  { r.note(func(r *reported) { r.Outcome = o }) }
func (r *report) fault(text string) { r.note(func(r *reported) { r.Errors = append(r.Errors, text) }) }
func (r *report) killed(pids []int) {
	r.note(func(r *reported) { r.Killed = slices.Concat(r.Killed, pids) })
}
func (r *report) sent(sig syscall.Signal) {
	r.note(func(r *reported) { r.Sent = append(r.Sent, signalName(sig)) })
}

// ended notes the end of the command.
func (r *report) ended(st *os.ProcessState) {
	r.note(func(r *reported) {
		own := code(st)
		r.Outcome, r.CommandCode = outcomeEnded, &own
		if killedBySignal(st) {
			r.CommandSignal = signalName(syscall.Signal(own - exitSignal))
		}
	})
}

// print writes it, as one line.
func (r *report) print(w io.Writer, command []string, code int, elapsed time.Duration) {
	r.note(func(out *reported) {
		if out.Outcome == "" {
			out.Outcome = outcomeFailed
		}
		out.ExitCode, out.Command = code, command
		out.ElapsedSeconds = elapsed.Seconds()
		if r.limit != nil {
			limit := max(0, *r.limit).Seconds()
			out.LimitSeconds = &limit
		}
		_ = json.NewEncoder(w).Encode(out) // to nobody, if standard error is closed
	})
}
