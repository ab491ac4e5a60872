package syncs_test

import (
	"fmt"
	"sync"

	"bide.invalid/bide/syncs"
)

// What wants a sync.Locker, as a sync.Cond does, gets one that waits without a bound; other users of the same lock are
// bounded all the same.
func ExampleMutex_Locker() {
	var mu syncs.Mutex
	var lines []string
	some := sync.NewCond(mu.Locker())

	read := make(chan string)
	go func() {
		some.L.Lock()
		defer some.L.Unlock()
		for len(lines) == 0 {
			some.Wait()
		}
		read <- lines[0]
	}()

	some.L.Lock()
	lines = append(lines, "hello")
	some.L.Unlock()
	some.Signal()
	fmt.Println(<-read)

	// Output:
	// hello
}
