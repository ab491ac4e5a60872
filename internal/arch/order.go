// Package arch holds the architecture as text, and the tests that keep the code to it: who may import whom, what the
// module links, where its own path may be written, which files may be unsafe, how imports are grouped. And the blocks of
// Go in README and in the guides are compiled.
//
// Nothing imports this package. Its tests need the go command and no network; with git at hand they look at tracked
// files and at those that are neither tracked nor ignored.
package arch

// Order says who may import whom inside the module. "a < b": b may import a and everything that a may. Names are
// relative to the module, the root package is bide. A rule may name a package that is not written yet; a package
// that is in no rule fails the test. The name examples stands for the packages below it. ARCHITECTURE.md explains the
// layers.
const Order = `
NONE < internal/crew, internal/ilist, internal/invariant, internal/registry, internal/step, internal/stress
     < clock < timer/queue < timer < park < syncs, bide;     # siblings: they meet only in park
internal/step < internal/sim;                           # for tests
bide, park < wire < netio, execio, sqlio < httpio;
bide, syncs, timer < inspect, bidetest;
httpio, execio, sqlio, inspect < cmd/bide;
httpio, execio, sqlio, inspect, bidetest < examples;
NONE < internal/arch, internal/mutants;                 # a package that is in no rule fails the test
`
