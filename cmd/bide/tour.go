package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"slices"
	"time"
)

// A scene shows one kind of trouble, and what the library has for it.
type scene struct {
	name    string
	trouble string // in a sentence
	code    string // the call that deals with it
	play    func(context.Context) measure
}

// A measure is what a scene has measured.
type measure interface {
	spans() []span     // what was due when, and when it came
	story() []string   // what happened, if every promise was kept
	verdict() []string // the promises that were broken, in words
}

func scenes() []scene {
	return []scene{lockScene(), nurseryScene(), shieldScene(), legacyScene(), dripScene(), childScene()}
}

// A tour plays scenes, one after the other, and judges what they measure.
type tour struct {
	scenes []scene
	limit  time.Duration // a scene that has not ended then is given up, and the tour with it
}

const tourLimit = 14 * time.Second

// run is the command: the scenes that args name, or all.
func (t tour) run(args []string, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("bide tour", flag.ContinueOnError)
	if code, done := parse(fs, t.help(), args, stdout, stderr); done {
		return code
	}
	chosen := t.scenes
	if fs.NArg() > 0 {
		chosen = nil
	}
	for _, name := range fs.Args() {
		i := slices.IndexFunc(t.scenes, func(s scene) bool { return s.name == name })
		if i < 0 {
			return misused(stderr, fs.Name(), fmt.Sprintf("%q is not a scene: write %s, or nothing for all", name, either(t.names())))
		}
		chosen = append(chosen, t.scenes[i])
	}
	return t.guide(chosen, page{stdout, colourful(stdout)})
}

// guide plays the scenes, and tells of each: the trouble first, then, once it has happened, the rest.
func (t tour) guide(scenes []scene, p page) int {
	start := time.Now()
	over := time.After(t.limit) // of package time: the library may be what is broken
	broken := 0
	p.intro()
	for _, s := range scenes {
		p.trouble(s)
		m := s.measured(over)
		faults := m.verdict()
		p.outcome(s, m, faults)
		if len(faults) > 0 {
			broken++
		}
		if _, ok := m.(hung); ok {
			break // what hangs would disturb the others
		}
	}
	p.end(len(scenes), broken, time.Since(start))
	if broken > 0 {
		return exitBroken
	}
	return exitKept
}

// measured plays the scene, until over at most.
func (s scene) measured(over <-chan time.Time) measure {
	start := time.Now()
	result := make(chan measure, 1)
	go func() { result <- s.play(context.Background()) }()
	select {
	case m := <-result:
		return m
	case <-over:
		return hung{time.Since(start)}
	}
}

// hung is all that can be said of a scene that does not end.
type hung struct{ after time.Duration }

func (h hung) spans() []span   { return nil }
func (h hung) story() []string { return nil }
func (h hung) verdict() []string {
	return []string{"it has not ended after " + ms(h.after.Round(time.Millisecond)) + ": given up, and the tour with it"}
}

func (t tour) names() []string {
	var names []string
	for _, s := range t.scenes {
		names = append(names, s.name)
	}
	return names
}

func (t tour) help() string {
	text := "usage: bide tour [SCENE...]\n\n" +
		"Plays scenes in which timeouts usually go wrong, measures what happens, and says whether\n" +
		"every promise was kept. Without a name all are played:\n\n"
	for _, s := range t.scenes {
		text += fmt.Sprintf("  %-8s %s\n", s.name, s.trouble)
	}
	return text + "\nAnything early is a broken promise; lateness is printed, and forgiven up to " + ms(forgiven) + ".\n" +
		"Output is coloured on a terminal, unless NO_COLOR is set.\n\n" +
		"exit code: 0 every promise was kept, 1 one was broken, 2 the command line was not understood\n"
}
