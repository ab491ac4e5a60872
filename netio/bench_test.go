package netio_test

import (
	"context"
	"io"
	"net"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/netio"
)

// still is a connection whose operations cost nothing: what is left is ours.
type still struct{ net.Conn }

func (still) Read(p []byte) (int, error)       { return len(p), nil }
func (still) Write(p []byte) (int, error)      { return len(p), nil }
func (still) SetReadDeadline(time.Time) error  { return nil }
func (still) SetWriteDeadline(time.Time) error { return nil }

func BenchmarkRead(b *testing.B) {
	std, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	s := bide.Open(context.Background(), bide.Timeout(time.Hour))
	defer s.Close(nil)
	below := bide.Open(std, bide.Timeout(time.Hour))
	defer below.Close(nil)
	var buf [64]byte
	c := netio.New(still{})
	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			io.Reader(still{}).Read(buf[:])
		}
	})
	for _, x := range []struct {
		name string
		ctx  context.Context
	}{
		{"background", context.Background()},
		{"scope", s},
		{"value", context.WithValue(s, "k", 1)},
		{"std", std},
		{"below-std", below},
	} {
		b.Run(x.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.ReadContext(x.ctx, buf[:])
			}
		})
	}
}
