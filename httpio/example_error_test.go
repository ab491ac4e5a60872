package httpio_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/bidetest"
	"bide.invalid/bide/httpio"
)

// What one server answers with Error, the one that has asked it reads with Check.
func ExampleError() {
	ctx, vc := bidetest.Virtual(new(testing.T))
	err := bide.FailAfter(ctx, time.Second, func(ctx context.Context) error {
		vc.Advance(time.Second)
		return bide.Check(ctx)
	}, bide.Name("stock"))

	w := httptest.NewRecorder()
	httpio.Error(w, err)
	fmt.Println(w.Code, w.Body)

	err = httpio.Check(w.Result())
	fmt.Println(err)
	var hop *httpio.HopError
	fmt.Println(errors.As(err, &hop) && hop.Hop == "stock", errors.Is(err, context.DeadlineExceeded))
	// Output:
	// 504 bide: stock: timeout after 1s
	//
	// bide/httpio: "stock" ran out of time
	// true true
}
