package syncs_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"bide.invalid/bide"
	"bide.invalid/bide/internal/stress"
	"bide.invalid/bide/syncs"
)

// A semModel is a semaphore as one would explain it.
type semModel struct {
	size, held int64
	line       []int          // who waits
	n          map[int]int64  // how much each of those who came wants
	state      map[int]string // and how it stands
}

func (m *semModel) settle() {
	m.line = slices.DeleteFunc(m.line, func(id int) bool {
		if m.n[id] > m.size {
			m.state[id] = "too large"
			return true
		}
		return false
	})
	for len(m.line) > 0 && m.held+m.n[m.line[0]] <= m.size {
		m.state[m.line[0]] = "has"
		m.held += m.n[m.line[0]]
		m.line = m.line[1:]
	}
}

// Random calls, one at a time, each until all is at rest: after each, everybody stands as the model says.
func TestBubbleSemaphoreModel(t *testing.T) {
	source := stress.Source(t)
	for run := range some(300) {
		r := source(run)
		synctest.Test(t, func(t *testing.T) {
			m := semModel{n: map[int]int64{}, state: map[int]string{}}
			var s syncs.Semaphore
			scopes := map[int]*bide.Scope{}
			results := map[int]func() (error, bool){}
			trace := ""
			for id := range 40 {
				var tried, want bool
				switch k := r.IntN(10); {
				case k < 4:
					n := r.Int64N(6)
					trace += fmt.Sprintf(" Acquire(%d)", n)
					scopes[id] = open(t, context.Background())
					results[id] = acquiring(&s, scopes[id], n)
					m.n[id], m.state[id] = n, "waits"
					if n == 0 {
						m.state[id] = "has"
					} else {
						m.line = append(m.line, id)
					}
				case k < 5:
					n := r.Int64N(4)
					trace += fmt.Sprintf(" TryAcquire(%d)", n)
					tried = s.TryAcquire(n)
					want = n == 0 || len(m.line) == 0 && m.held+n <= m.size
					if want {
						m.held += n
					}
				case k < 7 && m.held > 0:
					n := 1 + r.Int64N(m.held)
					trace += fmt.Sprintf(" Release(%d)", n)
					s.Release(n)
					m.held -= n
				case k < 9 && len(m.line) > 0:
					i := r.IntN(len(m.line))
					trace += fmt.Sprintf(" cancel #%d in line", i)
					scopes[m.line[i]].Cancel(nil)
					m.state[m.line[i]] = "canceled"
					m.line = slices.Delete(m.line, i, i+1)
				default:
					m.size = r.Int64N(7)
					trace += fmt.Sprintf(" SetSize(%d)", m.size)
					s.SetSize(m.size)
				}
				m.settle()
				if tried != want {
					t.Fatalf("%s: %v, want %v", trace, tried, want)
				}
				synctest.Wait()
				if s.Held() != m.held || s.Stats().Waiting != len(m.line) {
					t.Fatalf("%s: held %d, %d wait, want %d, %d", trace, s.Held(), s.Stats().Waiting, m.held, len(m.line))
				}
				for id, r := range results {
					got := "canceled"
					switch err, ended := r(); {
					case !ended:
						got = "waits"
					case err == nil:
						got = "has"
					case err == syncs.ErrTooLarge:
						got = "too large"
					}
					if got != m.state[id] {
						t.Fatalf("%s: the one that wants %d: %s, want %s", trace, m.n[id], got, m.state[id])
					}
				}
			}
			for _, s := range scopes {
				s.Cancel(nil)
			}
		})
	}
}
