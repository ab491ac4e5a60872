package bide

import (
	"cmp"
	"path"
	"reflect"
	"runtime"
	"slices"
	"strings"
)

// A Stack is where a goroutine is, or several that are at the same place.
type Stack struct {
	Count  int      // how many
	State  string   // as in a traceback, of one of them: what it waits for, and for how long
	Frames []string // the innermost first: function, file and line
}

// marks are the functions whose callers are told of: what runs scopes' bodies, nurseries' children and a server's
// handlers, and what waits under a scope.
var marks = [...]string{".(*Scope).run(", ".WithNursery(", ".(*Nursery).child(", ".(*Nursery).scoped(",
	".(*Nursery).service(", ".(*handover[", ".leave[", "/httpio.(*gate).ServeHTTP(", "/httpio.(*middleware).serve(",
	"/park.(*Waiter).Wait("}

// takeStacks takes the stacks of the process's goroutines, and keeps those with a mark in them.
func takeStacks() []Stack {
	self := runtime.FuncForPC(reflect.ValueOf(From).Pointer()).Name()
	return parseStacks(string(dump()), strings.TrimSuffix(self, ".From"))
}

// dump is the traceback of all goroutines, up to 16 MB of it.
func dump() []byte {
	buf := make([]byte, 64<<10)
	for {
		n := runtime.Stack(buf, true)
		if n < len(buf) || len(buf) >= 16<<20 {
			return buf[:n]
		}
		buf = make([]byte, 2*len(buf))
	}
}

func parseStacks(text, pkg string) []Stack {
	var stacks []Stack
	at := map[string]int{}
	for g := range strings.SplitSeq(text, "\n\n") {
		state, frames := parseStack(g, pkg)
		if frames == nil {
			continue
		}
		key := strings.Join(frames, "\n")
		if i, ok := at[key]; ok {
			stacks[i].Count++
			continue
		}
		at[key] = len(stacks)
		stacks = append(stacks, Stack{1, state, frames})
	}
	slices.SortStableFunc(stacks, func(a, b Stack) int { return cmp.Compare(b.Count, a.Count) })
	return stacks
}

// parseStack reads the traceback of one goroutine; frames is nil if there is no mark in it.
//
//	goroutine 7 [chan receive, 2 minutes labels:{"bide": "main"}]:
//	m.example/x/park.(*Waiter).await(0xc0000b2000, …)
//		/src/x/park/waiter.go:238 +0x85
//	created by …
func parseStack(text, pkg string) (state string, frames []string) {
	head, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if _, s, ok := strings.Cut(head, "["); ok {
		state, _, _ = strings.Cut(s, " labels:{") // Go 1.27, by default; they may contain anything
		state, _, _ = strings.Cut(state, "]:")
	}
	marked := false
	lines := strings.Split(rest, "\n")
	for i := 0; i+1 < len(lines) && !strings.HasPrefix(lines[i], "created by "); i++ {
		call, place := lines[i], lines[i+1]
		if !strings.HasPrefix(place, "\t") {
			continue // "...additional frames elided..."
		}
		i++
		for _, m := range marks {
			marked = marked || strings.HasPrefix(call, pkg+m)
		}
		if j := strings.LastIndexByte(call, '('); j > 0 {
			call = call[:j] // the arguments
		}
		place, _, _ = strings.Cut(strings.TrimSpace(place), " ")
		frames = append(frames, path.Base(call)+" "+path.Base(place))
	}
	if !marked {
		return "", nil
	}
	return state, frames
}
