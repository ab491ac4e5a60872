package bide_test

import (
	"context"
	"fmt"
	"time"

	"bide.invalid/bide"
)

// getPage is bounded as a whole. The error is a named result, so that Close can say in it what came of the bound.
func getPage(ctx context.Context, page string) (body string, err error) {
	s := bide.Open(ctx, bide.Timeout(time.Minute), bide.Name("get"))
	defer s.Close(&err) // the first defer: it runs last

	if page == "slow" {
		s.SetTimeout(0) // as if the minute had passed
	}
	if err := s.Check(); err != nil { // whatever takes a context can be given s
		return "", err
	}
	return "<" + page + ">", nil
}

// The handle form is for a function that is bounded as a whole.
func ExampleOpen() {
	fmt.Println(getPage(context.Background(), "index"))

	_, err := getPage(context.Background(), "slow")
	_, late := err.(*bide.TimeoutError)
	fmt.Println("timed out:", late)
	// Output:
	// <index> <nil>
	// timed out: true
}
