package bide_test

import (
	"context"
	"errors"
	"testing"

	"bide.invalid/bide"
)

// grants is a Slots that does not look at the context, and grants when it has done something.
type grants struct {
	first func()
	taken int
}

func (g *grants) Acquire(_ context.Context, n int64) error {
	g.first()
	g.taken += int(n)
	return nil
}

func (g *grants) Release(n int64) { g.taken -= int(n) }

// A slot that is granted when the context has ended meanwhile: f is not started, and the slot is given back.
func TestBlockingSlotOfACanceledContext(t *testing.T) {
	for _, opts := range [][]bide.Option{nil, {bide.Abandon()}} {
		s := bide.Open(context.Background())
		stop := errors.New("stop")
		l := &grants{first: func() { s.Cancel(stop) }}
		_, err := bide.Blocking(s, func(context.Context) (int, error) {
			t.Error("f was started under a canceled context")
			return 0, nil
		}, append(opts, bide.Slot(l))...)
		if c := (*bide.Canceled)(nil); !errors.As(err, &c) || c.Reason != stop {
			t.Errorf("Blocking: %v", err)
		}
		if l.taken != 0 {
			t.Errorf("%d slots are taken", l.taken)
		}
		s.Close(nil)
	}
}
