//go:build linux

package e2e

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"bide.invalid/bide"
	"bide.invalid/bide/bidetest"
	"bide.invalid/bide/httpio"
	"bide.invalid/bide/wire"
)

// A web is a server of httpio's, whose handlers wait until their scope ends, or drip, and say what has ended them.
type web struct {
	addr, secure string // host and port
	began        chan struct{}
	ended        chan error
	budget       chan time.Duration // that came in a header; 0: none
}

func startWeb(t *testing.T) *web {
	t.Helper()
	w := &web{began: make(chan struct{}, 1), ended: make(chan error, 1), budget: make(chan time.Duration, 1)}
	mux := http.NewServeMux()
	mux.HandleFunc("/wait", func(_ http.ResponseWriter, r *http.Request) {
		w.begin(r)
		w.ended <- bide.Sleep(r.Context(), time.Hour)
	})
	mux.HandleFunc("/drip", func(rw http.ResponseWriter, r *http.Request) {
		w.begin(r)
		for range bide.Ticks(r.Context(), 5*time.Millisecond) {
			_, _ = io.WriteString(rw, "x")
			_ = http.NewResponseController(rw).Flush()
		}
		w.ended <- bide.Check(r.Context())
	})
	h := httpio.Middleware(30*time.Second, mux)

	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	certified := httptest.NewUnstartedServer(nil)
	certified.EnableHTTP2 = true
	certified.StartTLS()
	certified.Close()
	secure, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: certified.TLS.Certificates, NextProtos: []string{"h2", "http/1.1"}})
	if err != nil {
		t.Fatal(err)
	}
	w.addr, w.secure = plain.Addr().String(), secure.Addr().String()
	root := bide.Open(context.Background())
	over := make(chan error, 2)
	for _, l := range []net.Listener{plain, secure} {
		go func() { over <- httpio.Serve(root, &http.Server{Handler: h}, l) }()
	}
	t.Cleanup(func() {
		root.Stop(time.Minute, nil) // which waits for what was begun: nothing may be left
		for range 2 {
			if err := <-over; err != nil {
				t.Errorf("Serve: %v", err)
			}
		}
		root.Close(nil)
	})
	return w
}

func (w *web) begin(r *http.Request) {
	d, _ := wire.Extract(r.Header)
	w.budget <- d
	w.began <- struct{}{}
}

// curl runs curl, and returns what it wrote and its exit code.
func curl(t *testing.T, args ...string) (string, int) {
	t.Helper()
	cmd, out := curlCmd(t, args...)
	_ = cmd.Run()
	return out.String(), cmd.ProcessState.ExitCode()
}

const curlFine = 0 // an exit code

func curlCmd(t *testing.T, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	program := find("curl")
	if program == "" {
		missing(t, "curl", "curl")
	}
	cmd := exec.Command(program, append([]string{"-s", "-k", "-D", "-"}, args...)...)
	out := new(bytes.Buffer)
	cmd.Stdout, cmd.Stderr = out, out
	return cmd, out
}

// curlLeaves runs curl, and ends it when a handler has begun: by a time of its own it might be over before that.
func (w *web) curlLeaves(t *testing.T, args ...string) {
	t.Helper()
	cmd, out := curlCmd(t, args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	select {
	case <-w.began:
		w.began <- struct{}{}
	case <-ended:
		t.Fatalf("%v: %s", cmd.ProcessState, out)
	}
	_ = cmd.Process.Signal(syscall.SIGTERM)
	if <-ended; cmd.ProcessState.Exited() {
		t.Fatalf("%v: %s", cmd.ProcessState, out)
	}
}

// A client that leaves ends its handler.
func TestClientLeavesRealTime(t *testing.T) {
	w := startWeb(t)
	for name, args := range map[string][]string{
		"HTTP/1.1":     {"http://" + w.addr},
		"HTTP/1.1 TLS": {"--http1.1", "https://" + w.secure},
		"HTTP/2":       {"--http2", "https://" + w.secure},
	} {
		for _, path := range []string{"/wait", "/drip"} {
			t.Run(name+path, func(t *testing.T) {
				args := slices.Clone(args)
				args[len(args)-1] += path
				w.curlLeaves(t, args...)
				w.wantEnd(t, bide.ByContext)
			})
		}
	}
}

// wantEnd waits for the end of the handler that was begun, and wants it to have been canceled by that.
func (w *web) wantEnd(t *testing.T, by bide.Source) (budget time.Duration) {
	t.Helper()
	<-w.began
	budget = <-w.budget
	err := <-w.ended
	var c *bide.Canceled
	if !errors.As(err, &c) || c.Source != by {
		t.Errorf("the handler was ended by %v (%T)", err, err)
	}
	return budget
}

// A client that says how long it waits is told in time who was too slow; but for one that has got some of the answer
// already.
func TestClientHasABudgetRealTime(t *testing.T) {
	w := startWeb(t)
	for _, header := range []string{"Grpc-Timeout: 200m", "Connect-Timeout-Ms: 200", "Request-Timeout: 1", "X-Envoy-Expected-Rq-Timeout-Ms: 200"} {
		out, code := curl(t, "-H", header, "http://"+w.addr+"/wait")
		if code != curlFine || !strings.HasPrefix(out, "HTTP/1.1 504 ") || !strings.Contains(out, "\r\nTimed-Out-Hop: GET /wait\r\n") {
			t.Errorf("%s: exit code %d: %s", header, code, out)
		}
		if d := w.wantEnd(t, bide.ByDeadline); d <= 0 || d > time.Second {
			t.Errorf("%s: the server saw %v", header, d)
		}
	}
	out, code := curl(t, "-H", "Grpc-Timeout: 2S", "http://"+w.addr+"/drip")
	if code != curlFine || !strings.HasPrefix(out, "HTTP/1.1 200 ") || !strings.Contains(out, "\r\n\r\nxx") || strings.Contains(out, "504") {
		t.Errorf("exit code %d: %s", code, out)
	}
	w.wantEnd(t, bide.ByDeadline)
}

// startNginx starts a proxy before the server. Its socket is in its folder.
func (w *web) startNginx(t *testing.T) (socket string) {
	t.Helper()
	program := find("nginx", "/usr/sbin")
	if program == "" {
		missing(t, "nginx", "nginx")
	}
	as := unprivileged("nobody")
	dir, err := folder(as)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket = filepath.Join(dir, "socket")
	temp := ""
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		temp += fmt.Sprintf("%s_temp_path %s/%s;\n", kind, dir, kind)
	}
	conf := filepath.Join(dir, "conf")
	text := fmt.Sprintf(`daemon off; master_process off; pid %s/pid; error_log stderr; events {}
		http { access_log off; %s
		server { listen unix:%s; location / { proxy_pass http://%s; proxy_http_version 1.1; proxy_buffering off; } } }`, dir, temp, socket, w.addr)
	if err := os.WriteFile(conf, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	h, err := start(syscall.SIGKILL, as, program, "-e", "stderr", "-p", dir, "-c", conf)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.stop(syscall.SIGTERM) })
	err = until("nginx", func(ctx context.Context) bool {
		c, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, &h.out)
	}
	return socket
}

// Through a proxy the server sees the budget, smaller by now; its answer comes back with the culprit's name; and a
// client that leaves ends the handler behind it.
func TestThroughNginxRealTime(t *testing.T) {
	long(t)
	w := startWeb(t)
	socket := w.startNginx(t)
	base := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}
	defer base.CloseIdleConnections()

	client := &http.Client{Transport: &httpio.Tripper{Base: base, Budget: wire.Budget{Slack: 10 * time.Second}}}
	err := bide.FailAfter(context.Background(), 11*time.Second, func(ctx context.Context) error {
		resp, err := get(ctx, client, "http://proxy/wait")
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		return httpio.Check(resp)
	})
	var hop *httpio.HopError
	if !errors.As(err, &hop) || hop.Hop != "GET /wait" {
		t.Errorf("%v (%T)", err, err)
	}
	if d := w.wantEnd(t, bide.ByDeadline); d <= 0 || d > time.Second {
		t.Errorf("the server saw %v", d)
	}

	client = &http.Client{Transport: httpio.Transport(base)}
	for path, by := range map[string]string{"/wait": "the wait for the answer", "/drip": "the body"} {
		var late *bide.TimeoutError
		err = bide.Run(context.Background(), func(s *bide.Scope) error { // no budget is sent: it has no deadline yet
			go func() {
				<-w.began
				w.began <- struct{}{}
				s.SetTimeout(50 * time.Millisecond)
			}()
			resp, err := get(s, client, "http://proxy"+path)
			if err != nil {
				return err
			}
			defer resp.Body.Close()
			_, err = io.Copy(io.Discard, resp.Body)
			return err
		}, bide.Name(by))
		if !errors.As(err, &late) || late.Scope != by {
			t.Errorf("%s: %v (%T)", by, err, err)
		}
		if d := w.wantEnd(t, bide.ByContext); d != 0 {
			t.Errorf("%s: the server saw a budget of %v", by, d)
		}
		w.curlLeaves(t, "--unix-socket", socket, "http://proxy"+path)
		w.wantEnd(t, bide.ByContext)
	}
}

func get(ctx context.Context, client *http.Client, url string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	return client.Do(req)
}

// One bound ends a request to whatever server, with and without a body to send.
func TestBadWebServersRealTime(t *testing.T) {
	for _, server := range append([]badServer{resets}, badServers...) {
		for _, size := range []int{0, 100 << 20} {
			t.Run(fmt.Sprint(server.name, "/", size), func(t *testing.T) {
				bidetest.NoLeaks(t)
				addr := server.serve(t)
				base := &http.Transport{}
				defer base.CloseIdleConnections()
				client := &http.Client{Transport: httpio.Transport(base)}
				bound := 100 * time.Millisecond
				if server.name == "resets" {
					bound = time.Minute // it ends the request by itself, however busy the machine is
				}
				err := bide.FailAfter(context.Background(), bound, func(ctx context.Context) error {
					req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+addr, bytes.NewReader(make([]byte, size)))
					if err != nil {
						return err
					}
					resp, err := client.Do(req)
					if err != nil {
						return err
					}
					resp.Body.Close()
					return nil
				}, bide.Name("request"))
				var late *bide.TimeoutError
				switch {
				case errors.As(err, &late) && late.Scope == "request" && server.name != "resets":
				case err != nil && (server.name == "resets" || server.name == "is half-open" || server.name == "drips") && !errors.As(err, &late):
				default:
					t.Errorf("%v (%T)", err, err)
				}
			})
		}
	}
}
