package main

import (
	"archive/zip"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// engineVersion is the version of the engine that both sides run.
const engineVersion = "0.17.0"

//go:embed python.py
var pythonDriver string

// startPython prepares the engine's own Python binding, which is the package that
// the engine's library comes from. Nothing is installed: the wheel is unpacked
// into the user's cache folder.
func startPython(ctx context.Context) (*exec.Cmd, error) {
	dir, err := cacheFolder("python-" + engineVersion)
	if err != nil {
		return nil, err
	}
	if _, missing := os.Stat(dir); errors.Is(missing, fs.ErrNotExist) {
		if err := unpackWheel(ctx, dir); err != nil {
			return nil, fmt.Errorf("the engine's Python binding: %w", err)
		}
	}
	cmd := exec.CommandContext(ctx, "python3", "-c", pythonDriver)
	cmd.Env = append(os.Environ(), "PYTHONPATH="+dir)
	return cmd, nil
}

// cacheFolder is the path of a folder of this command in the user's cache.
func cacheFolder(name string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no cache folder (%w): set HOME or XDG_CACHE_HOME", err)
	}
	return filepath.Join(cache, "slap", "bench", name), nil
}

// unpackWheel fetches the wheel, verifies it and makes the folder.
func unpackWheel(ctx context.Context, dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil { //nolint:gosec // holds public files
		return err
	}
	work, err := os.MkdirTemp(filepath.Dir(dir), ".python-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work) //nolint:errcheck // nothing needs it any more
	wheel, err := fetchWheel(ctx, work)
	if err != nil {
		return err
	}
	if err := verifyWheel(ctx, wheel, work); err != nil {
		return err
	}
	whole := filepath.Join(work, "whole")
	if err := unzip(wheel, whole); err != nil {
		return fmt.Errorf("unpack %s: %w", wheel, err)
	}
	return os.Rename(whole, dir)
}

// fetchWheel downloads the wheel for this machine with pip, or with uv.
func fetchWheel(ctx context.Context, dir string) (string, error) {
	download := []string{
		"download", "slatedb==" + engineVersion, "--no-deps", "--only-binary=:all:", "-d", dir,
		"--disable-pip-version-check", "--no-input", "--quiet",
	}
	err := run(ctx, "python3", append([]string{"-m", "pip"}, download...)...)
	if err != nil {
		err = errors.Join(err, run(ctx, "uv", append([]string{"tool", "run", "pip"}, download...)...))
	}
	wheels, _ := filepath.Glob(filepath.Join(dir, "slatedb-*.whl")) // the pattern is well-formed
	if len(wheels) != 1 {
		return "", fmt.Errorf("neither pip nor uv could download it: %w", err)
	}
	return wheels[0], nil
}

// verifyWheel lets the installer of the engine's library, which knows the hashes,
// refuse any other file.
func verifyWheel(ctx context.Context, wheel, work string) error {
	return run(ctx, "go", "run", "github.com/slap-go/slap/store/slatedb/install",
		"-wheel", wheel, "-dir", filepath.Join(work, "library"))
}

// run runs a command and shows its output only if it fails.
func run(ctx context.Context, name string, args ...string) error {
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, args[0], err, strings.TrimSpace(string(out)))
	}
	return nil
}

// unzip unpacks an archive into a new folder.
func unzip(archive, dir string) error {
	z, err := zip.OpenReader(archive)
	if err != nil {
		return err
	}
	defer z.Close() //nolint:errcheck // only read from
	return os.CopyFS(dir, &z.Reader)
}
