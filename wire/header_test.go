package wire_test

import (
	"context"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"bide.invalid/bide"
	"bide.invalid/bide/bidetest"
	"bide.invalid/bide/clock"
	"bide.invalid/bide/wire"
)

const forever = time.Duration(clock.Forever)

var headers = []wire.Header{wire.GRPCTimeout, wire.ConnectTimeout, wire.EnvoyTimeout, wire.RequestTimeout}

func TestHeaderFormat(t *testing.T) {
	for _, c := range []struct {
		h    wire.Header
		d    time.Duration
		want string
	}{
		{wire.GRPCTimeout, 0, "0n"},
		{wire.GRPCTimeout, -time.Hour, "0n"},
		{wire.GRPCTimeout, 1, "1n"},
		{wire.GRPCTimeout, 99999999, "99999999n"},
		{wire.GRPCTimeout, 100000000, "100000u"},
		{wire.GRPCTimeout, 100000999, "100000u"}, // down
		{wire.GRPCTimeout, 1500 * time.Millisecond, "1500000u"},
		{wire.GRPCTimeout, 100 * time.Second, "100000m"},
		{wire.GRPCTimeout, 99999999*time.Millisecond + 999999, "99999999m"},
		{wire.GRPCTimeout, 100000 * time.Second, "100000S"},
		{wire.GRPCTimeout, 100000000 * time.Second, "1666666M"},
		{wire.GRPCTimeout, math.MaxInt64, "2562047H"},
		{wire.ConnectTimeout, 1999999, "1"},
		{wire.ConnectTimeout, 999999, "0"},
		{wire.ConnectTimeout, -1, "0"},
		{wire.ConnectTimeout, math.MaxInt64, "9999999999"},
		{wire.EnvoyTimeout, 250 * time.Millisecond, "250"},
		{wire.RequestTimeout, 1999 * time.Millisecond, "1"},
		{wire.RequestTimeout, 999 * time.Millisecond, "0"},
		{wire.RequestTimeout, math.MaxInt64, "9223372036"},
	} {
		if got := c.h.Format(c.d); got != c.want {
			t.Errorf("%s of %v: %q, want %q", c.h, c.d, got, c.want)
		}
	}
}

func TestHeaderParse(t *testing.T) {
	const bad = -1
	for _, c := range []struct {
		h     wire.Header
		value string
		want  time.Duration
	}{
		{wire.GRPCTimeout, "1n", 1}, {wire.GRPCTimeout, "1u", time.Microsecond}, {wire.GRPCTimeout, "1m", time.Millisecond},
		{wire.GRPCTimeout, "1S", time.Second}, {wire.GRPCTimeout, "1M", time.Minute}, {wire.GRPCTimeout, "1H", time.Hour},
		{wire.GRPCTimeout, "0n", 0}, {wire.GRPCTimeout, "0H", 0}, {wire.GRPCTimeout, "00000007S", 7 * time.Second},
		{wire.GRPCTimeout, "2562047H", 2562047 * time.Hour},
		{wire.GRPCTimeout, "2562048H", forever}, {wire.GRPCTimeout, "99999999H", forever},
		{wire.ConnectTimeout, "0", 0}, {wire.ConnectTimeout, "250", 250 * time.Millisecond},
		{wire.ConnectTimeout, "9999999999", 9999999999 * time.Millisecond},
		{wire.EnvoyTimeout, "15000", 15 * time.Second},
		{wire.RequestTimeout, "30", 30 * time.Second},
		{wire.RequestTimeout, "9223372036", 9223372036 * time.Second}, {wire.RequestTimeout, "9223372037", forever},

		{wire.GRPCTimeout, "", bad}, {wire.GRPCTimeout, "n", bad}, {wire.GRPCTimeout, "1", bad}, {wire.GRPCTimeout, "1s", bad},
		{wire.GRPCTimeout, "1h", bad}, {wire.GRPCTimeout, "1U", bad}, {wire.GRPCTimeout, "1N", bad}, {wire.GRPCTimeout, "1ms", bad},
		{wire.GRPCTimeout, "-1S", bad}, {wire.GRPCTimeout, "+1S", bad}, {wire.GRPCTimeout, "1.5S", bad},
		{wire.GRPCTimeout, " 1S", bad}, {wire.GRPCTimeout, "1 S", bad}, {wire.GRPCTimeout, "1S,2S", bad},
		{wire.GRPCTimeout, "123456789n", bad}, {wire.GRPCTimeout, "000000001S", bad}, {wire.GRPCTimeout, "0x1S", bad},
		{wire.GRPCTimeout, "１S", bad},
		{wire.ConnectTimeout, "", bad}, {wire.ConnectTimeout, "-1", bad}, {wire.ConnectTimeout, "1e3", bad},
		{wire.ConnectTimeout, "12345678901", bad}, {wire.ConnectTimeout, "1ms", bad}, {wire.ConnectTimeout, "1_0", bad},
		{wire.EnvoyTimeout, "15s", bad}, {wire.EnvoyTimeout, "\x0015", bad},
		{wire.RequestTimeout, "1.5", bad}, {wire.RequestTimeout, "infinity", bad}, {wire.RequestTimeout, "99999999999", bad},
		{wire.RequestTimeout, strings.Repeat("9", 1<<20), bad},
	} {
		got, ok := c.h.Parse(c.value)
		if ok != (c.want != bad) || ok && got != c.want || !ok && got != 0 {
			t.Errorf("%s: %.40q: %v, %v; want %v", c.h, c.value, got, ok, c.want)
		}
	}
}

// units are the headers' resolutions; gRPC's grows with the value, and is never more than a ten millionth of it.
func lost(h wire.Header, d time.Duration) time.Duration {
	switch h {
	case wire.GRPCTimeout:
		return d/1e5 + 1 // from minutes to hours 60 times coarser
	case wire.RequestTimeout:
		return time.Second
	}
	return time.Millisecond
}

// What is read is never longer than what was written, and no shorter than the header's resolution asks for.
func TestHeaderRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := rapid.SampledFrom(headers).Draw(t, "header")
		bits := rapid.IntRange(0, 63).Draw(t, "bits")
		d := time.Duration(rapid.Int64Range(0, 1<<bits-1).Draw(t, "d"))
		value := h.Format(d)
		got, ok := h.Parse(value)
		if !ok || got > d {
			t.Fatalf("%s: %v is written %q and read %v, %v", h, d, value, got, ok)
		}
		most := d
		if h == wire.ConnectTimeout || h == wire.EnvoyTimeout {
			most = min(most, 9999999999*time.Millisecond)
		}
		if most-got >= lost(h, most) {
			t.Fatalf("%s: %v is written %q and read %v: too much is lost", h, d, value, got)
		}
		if again := h.Format(got); again != value {
			t.Fatalf("%s: %q becomes %q", h, value, again)
		}
	})
}

// A chain of hops, each with a header of its own choice, never widens the budget.
func TestChainNeverWidens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first := time.Duration(rapid.Int64Range(0, math.MaxInt64-1).Draw(t, "budget"))
		left := first
		c := http.Header{}
		for range rapid.IntRange(1, 5).Draw(t, "hops") {
			names := rapid.SliceOfNDistinct(rapid.SampledFrom(headers), 0, 4, rapid.ID).Draw(t, "headers")
			wire.Put(c, left, names...)
			got, ok := wire.Extract(c)
			if !ok || got > left {
				t.Fatalf("%v goes out as %v and comes in as %v, %v", left, c, got, ok)
			}
			left = got
		}
	})
}

func TestExtract(t *testing.T) {
	for _, c := range []struct {
		h       http.Header
		want    time.Duration
		ok      bool
		garbage int64
	}{
		{http.Header{}, 0, false, 0},
		{http.Header{"Grpc-Timeout": {"2S"}}, 2 * time.Second, true, 0},
		{http.Header{"Connect-Timeout-Ms": {"2000"}}, 2 * time.Second, true, 0},
		{http.Header{"X-Envoy-Expected-Rq-Timeout-Ms": {"2000"}}, 2 * time.Second, true, 0},
		{http.Header{"Request-Timeout": {"2"}}, 2 * time.Second, true, 0},
		// The smallest, wherever it is.
		{http.Header{"Grpc-Timeout": {"9S"}, "Request-Timeout": {"2"}}, 2 * time.Second, true, 0},
		{http.Header{"Grpc-Timeout": {"2S"}, "Request-Timeout": {"9"}}, 2 * time.Second, true, 0},
		{http.Header{"Grpc-Timeout": {"9S"}, "Connect-Timeout-Ms": {"8000"}, "X-Envoy-Expected-Rq-Timeout-Ms": {"0"}}, 0, true, 0},
		// Also of several of one name, which a proxy may make of one.
		{http.Header{"Grpc-Timeout": {"9S", "2S", "5S"}}, 2 * time.Second, true, 0},
		{http.Header{"Grpc-Timeout": {"", "2S"}}, 2 * time.Second, true, 0},
		{http.Header{"Grpc-Timeout": {"soon", "2S", "now"}, "Request-Timeout": {"9", "3"}}, 2 * time.Second, true, 2},
		// Garbage is ignored, and counted.
		{http.Header{"Grpc-Timeout": {"soon"}}, 0, false, 1},
		{http.Header{"Grpc-Timeout": {"soon"}, "Request-Timeout": {"2"}}, 2 * time.Second, true, 1},
		{http.Header{"Grpc-Timeout": {"-1S"}, "Connect-Timeout-Ms": {"x"}, "Request-Timeout": {"1.5"}}, 0, false, 3},
		{http.Header{"Grpc-Timeout": {""}}, 0, false, 0},
		{http.Header{"Timeout": {"2"}}, 0, false, 0},
	} {
		before := wire.Ignored()
		got, ok := wire.Extract(c.h)
		if got != c.want || ok != c.ok || wire.Ignored()-before != c.garbage {
			t.Errorf("%v: %v, %v, %d ignored; want %v, %v, %d", c.h, got, ok, wire.Ignored()-before, c.want, c.ok, c.garbage)
		}
	}
}

// only is a Carrier, and no more.
type only struct{ h http.Header }

func (o only) Get(name string) string { return o.h.Get(name) }
func (o only) Set(name, value string) { o.h.Set(name, value) }

func TestInject(t *testing.T) {
	ctx, vc := bidetest.Virtual(t)
	check := func(ctx context.Context, h http.Header, want string, names ...wire.Header) {
		t.Helper()
		wire.Inject(ctx, h, names...)
		var got []string
		for _, name := range headers {
			if v := h.Get(string(name)); v != "" {
				got = append(got, string(name)+" "+v)
			}
		}
		if text := strings.Join(got, ", "); text != want {
			t.Errorf("%q, want %q", text, want)
		}
	}
	check(ctx, http.Header{}, "")
	check(ctx, http.Header{"Grpc-Timeout": {"7S"}}, "Grpc-Timeout 7S")
	s := bide.Open(ctx, bide.Timeout(2*time.Second))
	vc.Advance(500 * time.Millisecond)
	check(s, http.Header{}, "Grpc-Timeout 1500000u")
	check(s, http.Header{}, "Connect-Timeout-Ms 1500, Request-Timeout 1", wire.RequestTimeout, wire.ConnectTimeout)
	check(s, http.Header{"Grpc-Timeout": {"1S"}}, "Grpc-Timeout 1S") // set by hand, and smaller
	check(s, http.Header{"Grpc-Timeout": {"9S"}}, "Grpc-Timeout 1500000u")
	check(s, http.Header{"Grpc-Timeout": {"soon"}}, "Grpc-Timeout 1500000u")
	for _, there := range []http.Header{{"Grpc-Timeout": {"9S", "1S"}}, {"Grpc-Timeout": {"1S", "9S"}}, {"Grpc-Timeout": {"soon", "1S"}}} {
		check(s, there, "Grpc-Timeout 1000000u")
		if n := len(there["Grpc-Timeout"]); n != 1 {
			t.Errorf("%d values", n)
		}
	}
	check(s, http.Header{"Grpc-Timeout": {"9S", "5S"}}, "Grpc-Timeout 1500000u")
	// Who has only Get is asked for one value.
	get := only{http.Header{"Grpc-Timeout": {"1S"}}}
	if d, ok := wire.Extract(get); d != time.Second || !ok {
		t.Error(d, ok)
	}
	// For the next try the rest is what is left then.
	h := http.Header{}
	wire.Inject(s, h)
	vc.Advance(time.Second)
	check(s, h, "Grpc-Timeout 500000u")
	vc.Advance(time.Second)
	check(s, http.Header{}, "Grpc-Timeout 0n")
	s.Close(nil)
}

func TestUnknownHeader(t *testing.T) {
	for name, f := range map[string]func(){
		"Format": func() { wire.Header("Timeout").Format(1) },
		"Parse":  func() { wire.Header("Timeout").Parse("1") },
	} {
		func() {
			defer func() {
				if p := recover(); p != `bide/wire: "Timeout" is not a header that this package knows` {
					t.Errorf("%s: %v", name, p)
				}
			}()
			f()
		}()
	}
}

func TestHeaderAllocs(t *testing.T) {
	h := http.Header{"Grpc-Timeout": {"1500000u"}}
	if n := testing.AllocsPerRun(100, func() { wire.Extract(h) }); n != 0 {
		t.Errorf("Extract: %v allocations", n)
	}
}

// FuzzHeader: whatever comes in, no panic, nothing negative, and what is understood is written back as no more.
func FuzzHeader(f *testing.F) {
	for i := range headers {
		for _, v := range []string{"", "0", "1", "1S", "99999999H", "9999999999", "2562048H", "-1", "1e9", "１S"} {
			f.Add(i, v)
		}
	}
	f.Fuzz(func(t *testing.T, i int, value string) {
		h := headers[uint(i)%uint(len(headers))]
		d, ok := h.Parse(value)
		if d < 0 || !ok && d != 0 {
			t.Fatalf("%s %q: %v, %v", h, value, d, ok)
		}
		c := http.Header{}
		c.Set(string(h), value)
		if got, has := wire.Extract(c); got != d || has != ok {
			t.Fatalf("%s %q: Parse says %v, %v, and Extract %v, %v", h, value, d, ok, got, has)
		}
		if again, fine := h.Parse(h.Format(d)); !fine || again > d {
			t.Fatalf("%s %q: %v comes back as %v, %v", h, value, d, again, fine)
		}
	})
}

// FuzzFormat: any duration comes back as no more than it was.
func FuzzFormat(f *testing.F) {
	for _, d := range []int64{0, -1, 1, 99999999, 100000000, math.MaxInt64, math.MinInt64} {
		f.Add(d)
	}
	f.Fuzz(func(t *testing.T, n int64) {
		for _, h := range headers {
			if d, ok := h.Parse(h.Format(time.Duration(n))); !ok || d > max(0, time.Duration(n)) {
				t.Fatalf("%s: %d is written %q and read %v, %v", h, n, h.Format(time.Duration(n)), d, ok)
			}
		}
	})
}
