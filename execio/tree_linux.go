package execio

import (
	"errors"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const subreapers = true

// members is who belongs to a tree: the process, whose parent belongs to it, who was seen to belong to it earlier, and
// who is in a process group or a session that one of them leads. So a process is found whose parent has ended, unless
// it had left the group before it was seen for the first time.
type members struct {
	root      ident
	process   *os.Process
	subreaper bool
	stop      chan struct{} // ends the reaper
	stopped   chan struct{} // closed when it has ended

	mu      sync.Mutex
	pinned  bool           // root is not reaped, and leads a group: the group's number is nobody else's
	known   map[ident]bool // seen; false if it is beyond reach
	leaders map[int]ident  // of groups and sessions
	foreign foreigners
}

// foreigners are children that this process had before it started the command, and what was seen to come from them.
// The value is true for the latter: if they end as orphans, it is to us to reap them.
type foreigners map[ident]bool

// present is who is here before the command is started. Only to a subreaper that matters.
func present(subreaper bool) (foreigners, error) {
	if !subreaper {
		return nil, nil
	}
	all, err := table()
	if err != nil {
		return nil, err
	}
	here := foreigners{}
	for _, p := range all {
		if p.parent == os.Getpid() {
			here[p.ident] = false
		}
	}
	here.gather(all, childrenOf(all))
	return here, nil
}

// gather adds what has come from the foreigners, and drops who is gone. all are the processes of now.
func (f foreigners) gather(all map[int]proc, children map[int][]proc) {
	var add func(p proc)
	add = func(p proc) {
		for _, c := range children[p.pid] {
			if _, ok := f[c.ident]; !ok {
				f[c.ident] = true
				add(c)
			}
		}
	}
	for id := range f {
		if p, ok := all[id.pid]; !ok || p.ident != id {
			delete(f, id)
		} else {
			add(p)
		}
	}
}

func childrenOf(all map[int]proc) map[int][]proc {
	children := make(map[int][]proc, len(all))
	for _, p := range all {
		children[p.parent] = append(children[p.parent], p)
	}
	return children
}

func (m *members) init(p *os.Process, subreaper bool, foreign foreigners) {
	m.process, m.subreaper, m.foreign = p, subreaper, foreign
	m.root = ident{pid: p.Pid}
	m.known, m.leaders = map[ident]bool{}, map[int]ident{}
	// It is not reaped yet, so the pid is its own. An error (no descriptor is left) lets the later walks fail to find it:
	// what is done then needs none.
	if p, err := look(p.Pid, make([]byte, statSize)); err == nil {
		m.root = p.ident
		m.add(p)
	}
	g, err := unix.Getpgid(p.Pid)
	m.pinned = err == nil && g == p.Pid
	if subreaper {
		m.stop, m.stopped = make(chan struct{}), make(chan struct{})
		go m.reapOrphans()
	}
}

func (m *members) forget() {
	if m.subreaper {
		close(m.stop)
		<-m.stopped
	}
}

func (m *members) unpin() {
	m.mu.Lock()
	m.pinned = false
	m.mu.Unlock()
}

// add makes p a member. Preconditions: mu held.
func (m *members) add(p proc) {
	if _, ok := m.known[p.ident]; !ok {
		m.known[p.ident] = true
	}
	if !m.subreaper && (p.group == p.pid || p.session == p.pid) { // a subreaper finds all by their parents
		m.leaders[p.pid] = p.ident
	}
}

// walk returns the members that are alive, parents before their children. Preconditions: mu held.
func (m *members) walk() ([]proc, error) {
	all, err := table()
	if err != nil {
		return nil, err
	}
	self := os.Getpid()
	children := childrenOf(all)
	numbers := map[int]bool{}
	for _, p := range all {
		numbers[p.group], numbers[p.session] = true, true
	}
	for g, leader := range m.leaders {
		if p, ok := all[g]; !numbers[g] || ok && p.ident != leader {
			delete(m.leaders, g) // the number is another's now, or may become it: none of the group was left
		}
	}
	for id := range m.known {
		if p, ok := all[id.pid]; !ok || p.ident != id {
			delete(m.known, id)
		}
	}
	m.foreign.gather(all, children)
	var found []proc
	seen := map[int]bool{self: true}
	for id, orphan := range m.foreign {
		seen[id.pid] = true
		if p := all[id.pid]; p.dead && orphan && p.parent == self {
			reapOrphan(p)
		}
	}
	var visit func(p proc)
	visit = func(p proc) {
		if seen[p.pid] {
			return
		}
		seen[p.pid] = true
		m.add(p)
		if !p.dead {
			found = append(found, p)
		} else if m.subreaper && p.parent == self && p.pid != m.root.pid {
			reapOrphan(p)
		}
		for _, c := range children[p.pid] {
			visit(c)
		}
	}
	if p, ok := all[m.root.pid]; ok && p.ident == m.root {
		visit(p)
	}
	if m.subreaper {
		for _, p := range children[self] {
			visit(p)
		}
	}
	for more := true; more; {
		more = false
		for _, p := range all {
			if seen[p.pid] {
				continue
			}
			_, known := m.known[p.ident]
			_, inGroup := m.leaders[p.group]
			_, inSession := m.leaders[p.session]
			if known || inGroup || inSession {
				visit(p)
				more = true
			}
		}
	}
	return found, nil
}

// reapOrphan reaps who has ended, and came to us as an orphan: nobody else waits for it.
func reapOrphan(p proc) { _, _ = unix.Wait4(p.pid, nil, unix.WNOHANG, nil) }

// reachable drops those that could not be signaled before.
func (m *members) reachable(ps []proc) []proc {
	var in []proc
	for _, p := range ps {
		if m.known[p.ident] {
			in = append(in, p)
		}
	}
	return in
}

// rounds bounds a search for processes that are not stopped for it, since a command that goes on starting others would
// never be through; and how often one is tried that fails.
const rounds = 10

// signal stops the tree before a signal that may end it: then all of it is found, and told once. Who appears later is
// not told: it may be the cleanup by which the command answers the signal.
func (m *members) signal(sig syscall.Signal) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var ps []proc
	var err error
	if awakes(sig) || sig == unix.SIGKILL {
		ps, err = m.freeze()
	} else {
		err = m.eachNew(func(news []proc) { ps = append(ps, news...) })
	}
	var errs []error
	told := false // root
	for _, p := range ps {
		err := p.send(sig)
		if err != nil {
			errs = append(errs, err)
		}
		told = told || err == nil && p.ident == m.root
	}
	if err != nil {
		errs = append(errs, err)
	}
	if !told {
		_ = m.process.Signal(sig) // which needs no descriptor, nor to see it in /proc
	}
	if awakes(sig) {
		// Children first: the kernel sends HUP to a group that has lost its parent while it is stopped.
		for _, p := range slices.Backward(ps) {
			if p.send(unix.SIGCONT) != nil {
				_ = unix.Kill(p.pid, unix.SIGCONT) // no descriptor is left, perhaps: nobody is to stay stopped by us
			}
		}
		if !told {
			_ = m.process.Signal(unix.SIGCONT)
		}
	}
	return errors.Join(errs...)
}

// eachNew walks until nobody is found who was not found before, and gives f those who were not. Preconditions: mu held.
func (m *members) eachNew(f func(news []proc)) error {
	found := map[ident]bool{}
	for range rounds {
		ps, err := m.walk()
		if err != nil {
			return err
		}
		ps = slices.DeleteFunc(ps, func(p proc) bool { return found[p.ident] })
		if len(ps) == 0 {
			break
		}
		for _, p := range ps {
			found[p.ident] = true
		}
		f(ps)
	}
	return nil
}

// freeze stops the tree and returns it, parents before their children: so nobody leaves it between being born and being
// found. A walk takes milliseconds, and who has left the group in them would be lost with the death of its parent.
// It is over when everybody had really stopped before a walk that finds nobody new: until then a process may be in the
// middle of a fork. That is waited for only so long: on a machine where somebody that was stopped does not get to run,
// freezing since there was progress, somebody new or somebody that has stopped; for those that do not stop, since their
// vfork's child has been stopped, stuck. After an error, too, those are stopped that it returns. Preconditions: mu held.
func (m *members) freeze() (frozen []proc, err error) {
	stopping := map[ident]bool{} // false: may not be signaled
	start := time.Now()
	progress, before := start, 0
	for ; ; time.Sleep(time.Millisecond / 2) {
		moving, deaf, news := 0, 0, 0
		for id, permitted := range stopping {
			if p, err := id.current(); permitted && err != errGone {
				switch stopped, isDeaf := p.stopped(); {
				case stopped:
				case isDeaf:
					deaf++
				default:
					moving++
				}
			}
		}
		ps, err := m.walk()
		if err != nil {
			return frozen, err
		}
		for _, p := range ps {
			if _, known := stopping[p.ident]; !known {
				// If it is not permitted, the signal that counts will say so.
				stopping[p.ident] = p.send(unix.SIGSTOP) == nil
				frozen = append(frozen, p)
				news++
			}
		}
		now := time.Now()
		if news > 0 || moving+deaf != before {
			progress, before = now, moving+deaf
		}
		patience := freezing
		if moving == 0 {
			patience = stuck
		}
		if moving+deaf+news == 0 || now.Sub(progress) > patience || now.Sub(start) > most {
			return frozen, nil
		}
	}
}

// The bounds of a freeze: without progress, and in all.
const (
	freezing = time.Second
	stuck    = 100 * time.Millisecond
	most     = 10 * time.Second
)

// awakes reports whether CONT is to follow the signal.
func awakes(sig syscall.Signal) bool {
	switch sig {
	case 0, unix.SIGKILL, unix.SIGCONT, unix.SIGSTOP, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU:
		return false
	}
	return true
}

// alive reports whether a member is left that can be reached. While one is that is known, nobody else is looked for.
func (m *members) alive() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, within := range m.known {
		if !within {
			continue
		}
		if id.living() {
			return true
		}
	}
	ps, err := m.walk()
	return err != nil || len(m.reachable(ps)) > 0
}

// hasEnded asks whether the process has ended just now.
func (m *members) hasEnded() bool {
	return !m.root.living()
}

// catches reports whether the process runs code of its own when it is sent sig: a handler, or what follows a sigwait, for
// which the signal is blocked. What cannot be found out is taken for a yes. One that has ended catches nothing.
func (m *members) catches(sig syscall.Signal) bool {
	name := "/proc/" + strconv.Itoa(m.root.pid) + "/status"
	status, err := os.ReadFile(name)
	if !m.root.living() {
		return false
	}
	return err != nil || inMask(string(status), "SigCgt", sig) || inMask(string(status), "SigBlk", sig)
}

// inMask reports whether sig is in a mask of /proc/PID/status; that cannot be told if there is none.
func inMask(status, name string, sig syscall.Signal) bool {
	_, rest, ok := strings.Cut(status, "\n"+name+":")
	line, _, _ := strings.Cut(rest, "\n")
	mask, err := strconv.ParseUint(strings.TrimSpace(line), 16, 64)
	return !ok || err != nil || mask&(1<<(sig-1)) != 0
}

// kill kills until nothing is left that can be killed, and after the first time tells whom. It waits as long as the
// system needs to end a process.
func (m *members) kill(tell func(pids []int)) error {
	var errs []error
	blind := 0
	for pause := time.Millisecond; ; pause = min(2*pause, longestPause) {
		pids, err := m.killOnce(&errs)
		if len(pids) > 0 && tell != nil {
			tell(pids)
			tell = nil
		}
		if err != nil {
			if blind++; blind == rounds {
				errs = append(errs, err)
			}
		} else if len(pids) == 0 {
			return errors.Join(errs...)
		}
		if blind >= rounds {
			return errors.Join(errs...)
		}
		time.Sleep(pause)
	}
}

// killOnce kills who is there, and returns their pids.
func (m *members) killOnce(errs *[]error) (pids []int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var frozen []proc
	if !m.subreaper { // to which nobody is lost
		frozen, _ = m.freeze()
	}
	ps, err := m.walk()
	ps = m.reachable(ps)
	if m.pinned && (len(ps) > 0 || err != nil) {
		_ = unix.Kill(-m.root.pid, unix.SIGKILL) // all at once: none of them can start another meanwhile
	}
	if err != nil {
		_ = m.process.Kill() // needs no descriptor
		for _, p := range m.reachable(frozen) {
			_ = unix.Kill(p.pid, unix.SIGKILL) // nor does this; stopped a moment ago, it still has its pid
		}
	}
	for _, p := range ps {
		pids = append(pids, p.pid)
		if err := p.send(unix.SIGKILL); err != nil {
			m.known[p.ident] = false
			*errs = append(*errs, err)
		}
	}
	return pids, err
}

// reapOrphans reaps the orphans that a subreaper gets, when they end.
func (m *members) reapOrphans() {
	defer close(m.stopped)
	c := make(chan os.Signal, 1)
	signal.Notify(c, unix.SIGCHLD)
	defer signal.Stop(c)
	for {
		m.mu.Lock()
		_, _ = m.walk() // which reaps
		m.mu.Unlock()
		select {
		case <-c:
		case <-m.stop:
			m.mu.Lock()
			_, _ = m.walk()
			m.mu.Unlock()
			return
		}
	}
}

// ownGroup is attr with a process group of the command's own, unless it says otherwise.
func ownGroup(attr *syscall.SysProcAttr) *syscall.SysProcAttr {
	var a syscall.SysProcAttr
	if attr != nil {
		a = *attr
	}
	if !a.Setsid && !a.Foreground { // which have a group of their own
		a.Setpgid = true
	}
	return &a
}
