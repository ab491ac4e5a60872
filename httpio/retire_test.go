package httpio_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"bide.invalid/bide/httpio"
)

// A request whose body was cut short by a deadline is the last one of its connection, whatever the client sends then: it
// is neither served below a context that has ended, nor is the rest of the body taken for a request.
func TestMiddlewareLastRequest(t *testing.T) {
	duplex := func(w http.ResponseWriter) {
		if err := http.NewResponseController(w).EnableFullDuplex(); err != nil {
			t.Error(err)
		}
	}
	for name, c := range map[string]struct {
		h    http.HandlerFunc
		ends time.Duration
		want string
	}{
		"no answer": {func(w http.ResponseWriter, r *http.Request) { io.ReadAll(r.Body) }, 10 * time.Second, "canceled by deadline"},
		"an answer": {func(w http.ResponseWriter, r *http.Request) {
			_, err := io.ReadAll(r.Body)
			fmt.Fprint(w, err)
		}, 10 * time.Second, "canceled by deadline"},
		"a deadline of the handler's own": {func(w http.ResponseWriter, r *http.Request) {
			http.NewResponseController(w).SetReadDeadline(time.Now().Add(5 * time.Second))
			_, err := io.ReadAll(r.Body)
			fmt.Fprint(w, err)
		}, 5 * time.Second, ""},
		"full duplex": {func(w http.ResponseWriter, r *http.Request) {
			duplex(w)
			io.WriteString(w, "begun")
			w.(http.Flusher).Flush()
			io.ReadAll(r.Body)
		}, 10 * time.Second, "begun"},
		"full duplex, unread": {func(w http.ResponseWriter, r *http.Request) {
			duplex(w)
			io.WriteString(w, "hello")
		}, 0, "hello"},
	} {
		for _, rest := range []time.Duration{500 * time.Millisecond, 3 * time.Second} { // in the second that is left, and later
			t.Run(fmt.Sprint(name, ", ", rest), func(t *testing.T) {
				n := 0
				h := httpio.Middleware(10*time.Second, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if n++; n > 1 {
						t.Errorf("another request: %s %s, %v", r.Method, r.URL, r.Context().Err())
					}
					c.h(w, r)
				}))
				upload := func(t *testing.T, conn net.Conn, in *bufio.Reader) {
					const smuggled = "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"
					fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\na", 1+len(smuggled))
					go func() {
						time.Sleep(c.ends + rest)
						io.WriteString(conn, smuggled)
						io.WriteString(conn, smuggled)
					}()
					if resp, err := http.ReadResponse(in, nil); err != nil {
						t.Error(err)
					} else if b, err := io.ReadAll(resp.Body); !strings.Contains(string(b), c.want) || err != nil {
						t.Errorf("%q, %v", b, err)
					}
					time.Sleep(15 * time.Second)
					conn.SetReadDeadline(time.Now().Add(time.Second))
					if b, err := io.ReadAll(in); len(b) > 0 || err != nil {
						t.Errorf("%q, %v; want a closed connection", b, err)
					}
				}
				tailed(t, &http.Server{Handler: h}, upload)
				n = 0
				synctest.Test(t, func(t *testing.T) { // without Serve
					srv, l := &http.Server{Handler: h}, newPipes()
					served := make(chan error, 1)
					go func() { served <- srv.Serve(l) }()
					conn := l.dial()
					upload(t, conn, bufio.NewReader(conn))
					conn.Close()
					srv.Close()
					<-served
				})
			})
		}
	}
}

// A body that the server has looked through to its end is not waited for: a client that takes its time for the answer has
// the connection for another request.
func TestMiddlewareUnreadBodySlowClient(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"closed":   func(w http.ResponseWriter, r *http.Request) { r.Body.Read(make([]byte, 1)); r.Body.Close() },
		"unread":   func(w http.ResponseWriter, r *http.Request) { w.(http.Flusher).Flush() },
		"buffered": func(w http.ResponseWriter, r *http.Request) {},
	} {
		for _, body := range []string{"Content-Length: 2\r\n\r\n{}", "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"} {
			t.Run(name, func(t *testing.T) {
				tailed(t, &http.Server{Handler: httpio.Middleware(time.Minute, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.Method == "GET" {
						fmt.Fprint(w, r.Context().Err())
						return
					}
					h(w, r)
					io.WriteString(w, "hello")
				}))}, func(t *testing.T, c net.Conn, in *bufio.Reader) {
					io.WriteString(c, "POST / HTTP/1.1\r\nHost: x\r\n"+body)
					time.Sleep(10 * time.Second)
					if b, err := in.Peek(20); err != nil {
						t.Errorf("%q, %v", b, err)
					}
					time.Sleep(10 * time.Second) // in the middle of the answer
					answer(t, in, "hello")
					ask(t, c)
					answer(t, in, "<nil>")
				})
			})
		}
	}
}
