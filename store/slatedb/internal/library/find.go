package library

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
)

// Variable is the environment variable that names the library's file. When it is
// set, [Find] looks nowhere else.
const Variable = "SLATEDB_LIBRARY"

// ErrMissing says that the library is in none of the places that [Find] looks
// at. The error that wraps it lists them, and says what to run.
var ErrMissing = errors.New("the engine's library is missing")

const module = "github.com/slap-go/slap"

// Find returns the path of the library for this process: the file that the
// environment variable [Variable] names, or the first that exists of the one in
// the user's cache folder, the one beside the executable, and the one on the
// system's library path, whose name is without a folder. onSystemPath tells
// whether the system's loader finds a file of that name.
//
// A file that is not a library of this platform, or is cut short, is an error:
// the system's loader would end the process instead of refusing it.
func Find(onSystemPath func(name string) bool) (string, error) {
	return find(Host(), os.Getenv(Variable), places(Host()), onSystemPath)
}

func find(host Platform, named string, places []place, onSystemPath func(string) bool) (string, error) {
	if named != "" {
		return named, inspectNamed(named, host)
	}
	looked := []string{"$" + Variable + " (not set)"}
	for _, p := range places {
		if _, err := os.Stat(p.path); err == nil {
			return p.path, inspect(p.path, host, replace())
		}
		looked = append(looked, p.String())
	}
	if onSystemPath(host.FileName()) {
		return host.FileName(), nil
	}
	looked = append(looked, "the system's library path")
	return "", fmt.Errorf("%w: run %q (looked for %s %s at %s)",
		ErrMissing, Command(), host.FileName(), Version, strings.Join(looked, ", "))
}

// inspectNamed checks the file that the user named.
func inspectNamed(path string, host Platform) error {
	err := inspect(path, host, unset)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %s names %s, which does not exist: %s", ErrMissing, Variable, path, unset)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", Variable, err)
	}
	return nil
}

// unset is what to do about a wrong file that the user named.
const unset = "unset " + Variable + ", or set it to the library's file"

func replace() string { return fmt.Sprintf("replace it by running %q", Command()) }

// Remedy is what a user does about a file that [Find] returned and that turns
// out not to be the library.
func Remedy(path string) string {
	if path == os.Getenv(Variable) {
		return unset
	}
	return replace()
}

// place is a spot where the library may be, or why there is none.
type place struct {
	path string
	err  error
}

func (p place) String() string {
	if p.err != nil {
		return p.err.Error()
	}
	return p.path
}

func places(host Platform) []place {
	cache, noCache := host.CacheDir()
	exe, noExe := os.Executable()
	return []place{
		{filepath.Join(cache, host.FileName()), noCache},
		{filepath.Join(filepath.Dir(exe), host.FileName()), noExe},
	}
}

// Command is what a user of this program runs to install the library. It names
// this module's version where one is known, so that it works in any folder.
func Command() string {
	command := "go run " + module + "/store/slatedb/install"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return command
	}
	for _, d := range info.Deps {
		if d.Path == module && d.Replace == nil && strings.HasPrefix(d.Version, "v") {
			return command + "@" + d.Version
		}
	}
	return command
}
