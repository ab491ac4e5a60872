package bide_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"bide.invalid/bide"
	"bide.invalid/bide/internal/registry"
)

// An observer that is told of the services' scope, or whoever logs that it has panicked, may use the nursery: nothing is
// locked. Two first services have one scope; the other one that was made is closed.
func TestServiceObserved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		err := bide.WithNursery(context.Background(), func(ctx context.Context, n *bide.Nursery) error {
			ctx.Done() // the first of a process tries something with a scope
			var scopes []*bide.Scope
			both := make(chan struct{})
			service := func(ctx context.Context) error {
				scopes = append(scopes, ctx.(*bide.Scope))
				if len(scopes) == 2 {
					close(both)
				}
				<-ctx.Done()
				return nil
			}
			o := &spy{}
			o.then = func() {
				o.then = nil
				if !n.TryGo(func(context.Context) error { return nil }) {
					t.Error("there is no slot")
				}
				n.Service(service)
				synctest.Wait()
			}
			leave, ok := registry.Observe(o)
			if !ok {
				t.Fatal("the slot is taken")
			}
			n.Service(service)
			<-both
			leave()
			if scopes[0] != scopes[1] {
				t.Error("two scopes of services")
			}
			if want := []string{"opened below , ", "opened below , ", "closed "}; !slices.Equal(o.told, want) {
				t.Errorf("told %q, want %q", o.told, want)
			}
			return nil
		}, bide.Limit(1))
		if err != nil {
			t.Error(err)
		}
	})
}
