// Command race prepares tests with the race detector: it prints the flag for go test that
// builds with a copy of Proto.Actor without one line. That line sets gRPC's logger for the
// whole process each time a remote starts, unguarded, while the gRPC of other nodes in the
// process may read it: a race that is not ours, and that only tests have, since a service
// runs one node.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const (
	module = "github.com/asynkron/protoactor-go"
	source = "remote/server.go"
	line   = "grpclog.SetLoggerV2(grpclog.NewLoggerV2(ioutil.Discard, ioutil.Discard, ioutil.Discard))"
	none   = "_, _ = grpclog.NewLoggerV2, ioutil.Discard"
	folder = "bin/race"
)

func main() {
	modfile, err := prepare()
	if err != nil {
		fmt.Fprintln(os.Stderr, "race:", err)
		os.Exit(1)
	}
	fmt.Println("-modfile=" + modfile)
}

// prepare makes the copy, and a go.mod that puts it in the place of the module.
func prepare() (modfile string, err error) {
	here, err := filepath.Abs(folder)
	if err != nil {
		return "", err
	}
	copied := filepath.Join(here, "protoactor")
	if err := os.RemoveAll(here); err != nil {
		return "", err
	}
	if err := copyModule(copied); err != nil {
		return "", err
	}
	if err := cut(filepath.Join(copied, source)); err != nil {
		return "", err
	}
	return writeModfile(here, copied)
}

func copyModule(to string) error {
	directory, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output() //nolint:noctx // it ends by itself
	if err != nil {
		return fmt.Errorf("find %s: %w", module, err)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o750); err != nil {
		return err
	}
	return os.CopyFS(to, os.DirFS(strings.TrimSpace(string(directory))))
}

// cut leaves the line out of the file.
func cut(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if strings.Count(string(text), line) != 1 {
		return fmt.Errorf("%s of %s does not set gRPC's logger as it used to: look whether this is still needed", source, module)
	}
	if err := os.Remove(file); err != nil { // it is as read-only as the original
		return err
	}
	return os.WriteFile(file, []byte(strings.Replace(string(text), line, none, 1)), 0o600)
}

func writeModfile(here, copied string) (modfile string, err error) {
	modfile = filepath.Join(here, "go.mod")
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		return "", err
	}
	sum, err := os.ReadFile("go.sum")
	if err != nil {
		return "", err
	}
	mod = fmt.Appendf(mod, "\nreplace %s => %s\n", module, copied)
	return modfile, errors.Join(os.WriteFile(modfile, mod, 0o600), os.WriteFile(filepath.Join(here, "go.sum"), sum, 0o600))
}
