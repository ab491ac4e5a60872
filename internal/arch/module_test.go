package arch

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// module is the root module: its path, asked of the go command so that a rename needs no edit here, and its folder.
type module struct{ path, dir string }

var theModule = sync.OnceValues(func() (module, error) {
	out, err := goCommand("", nil, "list", "-m", "-f", "{{.Path}}\n{{.Dir}}")
	if err != nil {
		return module{}, err
	}
	path, dir, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return module{path, dir}, nil
})

func rootModule(t *testing.T) module {
	t.Helper()
	m, err := theModule()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// owns says whether an import path belongs to the module or to one of its nested modules.
func (m module) owns(path string) bool { return path == m.path || strings.HasPrefix(path, m.path+"/") }

// name turns an import path of the module into the name that Order uses.
func (m module) name(path string) string {
	if path == m.path {
		return "bide"
	}
	return strings.TrimPrefix(path, m.path+"/")
}

// isStd goes by the go command's own convention: the first element of any other path has a dot.
func isStd(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return path != "C" && !strings.Contains(first, ".")
}

// goCommand runs go for the module alone, as its users have it: no workspace, and never a download.
func goCommand(dir string, env []string, args ...string) ([]byte, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOPROXY=off")
	cmd.Env = append(cmd.Env, env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = errors.New("go " + strings.Join(args, " ") + ": " + err.Error() + "\n" + stderr.String())
	}
	return out, err
}

// listed is what we read of a package in the output of go list -json.
type listed struct {
	ImportPath, Dir   string
	Standard, DepOnly bool
	GoFiles, CgoFiles []string
	TestGoFiles       []string
	XTestGoFiles      []string
	Imports           []string
	TestImports       []string
	XTestImports      []string
}

// goList lists the packages of the module and everything that they link. A module that is required but not at hand
// is listed by its path only (-e), which is all that the tests ask for.
func goList(m module, goos, goarch, tags string) ([]listed, error) {
	out, err := goCommand(m.dir, []string{"GOOS=" + goos, "GOARCH=" + goarch}, "list", "-e", "-deps", "-tags="+tags,
		"-json=ImportPath,Dir,Standard,DepOnly,GoFiles,CgoFiles,TestGoFiles,XTestGoFiles,Imports,TestImports,XTestImports", "./...")
	if err != nil {
		return nil, err
	}
	var pkgs []listed
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); err == io.EOF {
			return pkgs, nil
		} else if err != nil {
			return nil, err
		}
		pkgs = append(pkgs, p)
	}
}

// moduleFiles lists the files of the checkout, slash-separated and relative to its top: what git tracks, and what
// git would offer to add. Without git: everything except .git and .out.
//
// The tree is walked in any case: files that this process opens, and folders that it reads, are what go test
// compares before it answers from its cache; git's reading would not count.
var moduleFiles = sync.OnceValues(func() ([]string, error) {
	m, err := theModule()
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	cmd := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = m.dir
	out, err := cmd.Output()
	git := err == nil
	for name := range strings.SplitSeq(string(out), "\x00") {
		known[name] = true
	}
	var files []string
	err = filepath.WalkDir(m.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if d.Name() == ".git" || d.Name() == ".out" {
				return fs.SkipDir
			}
			return nil
		}
		rel, err := filepath.Rel(m.dir, path)
		if err != nil {
			return err
		}
		if rel = filepath.ToSlash(rel); d.Type().IsRegular() && (known[rel] || !git) {
			files = append(files, rel)
		}
		return nil
	})
	return files, err
})

// eachFile hands every file of the checkout that keep wants to f.
func eachFile(t *testing.T, keep func(name string) bool, f func(name string, content []byte)) {
	t.Helper()
	m := rootModule(t)
	files, err := moduleFiles()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, name := range files {
		if !keep(name) {
			continue
		}
		content, err := os.ReadFile(filepath.Join(m.dir, filepath.FromSlash(name)))
		if errors.Is(err, fs.ErrNotExist) {
			continue // an editor's temporary file, gone again
		}
		if err != nil {
			t.Fatal(err)
		}
		f(name, content)
		n++
	}
	if n == 0 {
		t.Fatal("no file was looked at")
	}
}

// isGo keeps Go files; those below testdata are allowed to be wrong.
func isGo(name string) bool {
	return strings.HasSuffix(name, ".go") && !slices.Contains(strings.Split(name, "/"), "testdata")
}
