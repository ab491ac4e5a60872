// Wrk measures what httpio.Middleware costs a server: the program wrk asks one with it and one without, in pairs, one
// right after the other and in alternating order. It prints each pair's ratio of requests a second, and their median.
//
//	go run ./bench/cmd/wrk -pairs 10 -d 3s -least 0.95
//
// The handler answers a few bytes, and each request has a budget header, so the middleware has no work to hide behind. It
// exits with 1 if the median is below -least.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/execio"
	"bide.invalid/bide/httpio"
)

var (
	pairs       = flag.Int("pairs", 10, "how many pairs")
	each        = flag.Duration("d", 3*time.Second, "how long each half of a pair takes, whole seconds")
	connections = flag.Int("c", 32, "connections")
	least       = flag.Float64("least", 0.95, "the least median that is good enough")
)

func main() {
	flag.Parse()
	bide.Main(run, bide.Name("wrk"), bide.Grace(0))
}

func run(ctx context.Context) error {
	if _, err := exec.LookPath("wrk"); err != nil {
		return errors.New("there is no program wrk, which makes the requests: apt-get install wrk")
	}
	if *pairs < 1 || *each < time.Second {
		return errors.New("-pairs is at least 1, and -d at least 1s")
	}
	answer := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello, world") })
	return bide.WithNursery(ctx, func(ctx context.Context, n *bide.Nursery) error {
		var urls [2]string // without, with
		for i, h := range []http.Handler{answer, httpio.Middleware(time.Minute, answer)} {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				return err
			}
			urls[i] = "http://" + l.Addr().String() + "/"
			n.Service(func(ctx context.Context) error { return httpio.Serve(ctx, &http.Server{Handler: h}, l) })
		}
		return compare(ctx, os.Stdout, urls)
	})
}

// compare measures the pairs. A first one, which is not counted, warms up.
func compare(ctx context.Context, w io.Writer, urls [2]string) error {
	var ratios []float64
	for i := range *pairs + 1 {
		var rate [2]float64
		for k := range 2 {
			which := (i + k) % 2
			d := *each
			if i == 0 {
				d = time.Second
			}
			var err error
			if rate[which], err = ask(ctx, d, urls[which]); err != nil {
				return err
			}
		}
		if i > 0 {
			ratios = append(ratios, rate[1]/rate[0])
			fmt.Fprintf(w, "pair %2d: %6.0f requests/s without, %6.0f with: %.3f\n", i, rate[0], rate[1], rate[1]/rate[0])
		}
	}
	m := median(ratios)
	fmt.Fprintf(w, "median ratio %.3f of %d pairs of %v, %d connections\n", m, *pairs, *each, *connections)
	if m < *least {
		return fmt.Errorf("the median ratio %.3f is below %.3f", m, *least)
	}
	return nil
}

// ask lets wrk ask for d, and returns how many requests a second it made.
func ask(ctx context.Context, d time.Duration, url string) (float64, error) {
	cmd := exec.Command("wrk", "-t1", "-c"+strconv.Itoa(*connections), fmt.Sprintf("-d%ds", int(d.Seconds())), "-H", "Grpc-Timeout: 10S", url)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := execio.Run(ctx, cmd); err != nil {
		return 0, fmt.Errorf("wrk: %w\n%s", err, out.String())
	}
	return rate(out.String())
}

// rate reads wrk's report. Answers other than 2xx and 3xx, and broken connections, are an error: they may be faster.
func rate(report string) (float64, error) {
	var rate float64
	for line := range strings.Lines(report) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "Non-2xx"), strings.HasPrefix(line, "Socket errors"):
			return 0, fmt.Errorf("wrk says: %s", line)
		case strings.HasPrefix(line, "Requests/sec:"):
			rate, _ = strconv.ParseFloat(strings.TrimSpace(strings.TrimPrefix(line, "Requests/sec:")), 64)
		}
	}
	if rate <= 0 {
		return 0, fmt.Errorf("wrk says nothing of requests:\n%s", report)
	}
	return rate, nil
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}
