package bidetest_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"bide.invalid/bide/bidetest"
)

func TestSequencer(t *testing.T) {
	everywhere(t, func(t *testing.T) {
		for range 50 {
			s := bidetest.NewSequencer(t, "a", "b", "a", "c", "b")
			var got []string // guarded by the order
			over := make(chan bool)
			for _, steps := range []string{"ac", "bb", "a"} {
				go func() {
					for _, step := range strings.Split(steps, "") {
						s.Pass(step)
						if step == "c" {
							got = append(got, step)
						}
					}
					over <- true
				}()
			}
			for range 3 {
				<-over
			}
			if len(got) != 1 {
				t.Error(got)
			}
		}
	})
}

// What is done before a step is seen behind the next one.
func TestSequencerOrder(t *testing.T) {
	s := bidetest.NewSequencer(t, "1", "2", "3", "4")
	var b strings.Builder
	over := make(chan bool)
	go func() {
		b.WriteString("a")
		s.Pass("1")
		s.Pass("4")
		b.WriteString("c")
		close(over)
	}()
	s.Pass("2")
	b.WriteString("b")
	s.Pass("3")
	<-over
	if b.String() != "abc" {
		t.Error(b.String())
	}
}

func TestSequencerWrong(t *testing.T) {
	everywhere(t, func(t *testing.T) {
		over := make(chan bool)
		text := new(fake).run(func(t bidetest.TB) {
			s := bidetest.NewSequencer(t, "a", "b", "c")
			s.Pass("a")
			begun := make(chan bool)
			go func() {
				defer close(over)
				close(begun)
				s.Pass("c")
				t.Errorf("c was passed")
			}()
			<-begun
			for !strings.Contains(dump(), "syncs.(*Sequencer).Wait(") {
			}
			s.Pass("a")
		})
		<-over
		complains(t, text, `Pass("a"), which is no step that is left of a, b, c`,
			`nobody has passed "b", step 2 of 3; for it wait "c" at sequencer_test.go:`)
		if strings.Contains(text, "was passed") {
			t.Error(text)
		}
	})
	f := new(fake)
	synctest.Test(t, func(t *testing.T) { bidetest.NewSequencer(f) })
	f.end()
	complains(t, f.text(), "NewSequencer was called in a bubble with the t of outside")
}
