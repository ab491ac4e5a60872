package execio

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
)

// A stdin is a command's Stdin that can be cut off while a Read of it does not return: cmd.Wait would wait for that, with
// WaitDelay, too.
type stdin struct {
	io.Reader
	buf  []byte // a Read that is left behind has it
	once sync.Once
	over chan struct{}
	err  error // of Read when it is over
}

// cuttable puts cmd's Stdin into one, unless it is a file, which the command reads itself, or in memory, where no Read
// hangs: then it is nil.
func cuttable(cmd *exec.Cmd) *stdin {
	switch cmd.Stdin.(type) {
	case nil, *os.File, *bytes.Reader, *bytes.Buffer, *strings.Reader:
		return nil
	}
	s := &stdin{Reader: cmd.Stdin, over: make(chan struct{})}
	cmd.Stdin = s
	return s
}

// Read is called by the goroutine of package os/exec.
func (s *stdin) Read(p []byte) (n int, err error) {
	if len(s.buf) < len(p) {
		s.buf = make([]byte, len(p))
	}
	read := make(chan struct{})
	var m int
	var failed error
	b := s.buf[:len(p)]
	go func() {
		m, failed = s.Reader.Read(b)
		close(read)
	}()
	select {
	case <-read:
		return copy(p, b[:m]), failed
	case <-s.over:
		return 0, s.err
	}
}

// cut has Read return err from now on. The first counts.
func (s *stdin) cut(err error) {
	if s != nil {
		s.once.Do(func() {
			s.err = err
			close(s.over)
		})
	}
}
