package library

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// programs makes a folder of shell scripts the only one on PATH.
func programs(t *testing.T, scripts map[string]string) {
	t.Helper()
	dir := t.TempDir()
	for name, body := range scripts {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+body), 0o700))
	}
	t.Setenv("PATH", dir)
}

// downloads copies the wheel to the folder after -d and keeps its arguments.
func downloads(w handmade, args string) string {
	return `case "$*" in *--version*) exit 0;; esac
echo "$@" > ` + args + `
while [ "$1" != -d ]; do shift; done
/bin/cp ` + w.path + ` "$2"
`
}

func TestFetchWithEachProgram(t *testing.T) {
	const fails = "exit 1\n"
	for name, c := range map[string]struct {
		scripts map[string]string // "" downloads
		args    string
	}{
		"python3":            {map[string]string{"python3": "", "uv": fails}, "-m pip download"},
		"python3 has no pip": {map[string]string{"python3": fails, "pip3": ""}, "download"},
		"pip3 is broken":     {map[string]string{"pip3": fails, "pip": ""}, "download"},
		"python":             {map[string]string{"python": ""}, "-m pip download"},
		"uv":                 {map[string]string{"python3": fails, "uv": ""}, "tool run pip download"},
	} {
		t.Run(name, func(t *testing.T) {
			w, dir, args := makeWheel(t), t.TempDir(), filepath.Join(t.TempDir(), "args")
			for name, body := range c.scripts {
				if body == "" {
					c.scripts[name] = downloads(w, args)
				}
			}
			programs(t, c.scripts)
			_, err := install(t.Context(), Options{Dir: dir}, w.build)
			require.NoError(t, err)
			require.Equal(t, w.want, folderOf(t, dir))
			got, err := os.ReadFile(args)
			require.NoError(t, err)
			require.Contains(t, string(got),
				c.args+" slatedb==0.17.0 --no-deps --only-binary=:all: --platform handmade -d "+dir)
		})
	}
}

func TestFetchFails(t *testing.T) {
	const started = `case "$*" in *--version*) exit 0;; esac` + "\n"
	for name, c := range map[string]struct {
		scripts map[string]string
		want    string
	}{
		"neither pip nor uv": {nil, "neither pip nor uv runs on this machine: install pip or uv, or fetch the wheel"},
		"offline": {
			map[string]string{"pip3": started + "echo 'WARNING: Retrying' >&2; echo 'ERROR: No matching distribution found' >&2; exit 1"},
			`"pip3" could not download slatedb 0.17.0 for handmade (No matching distribution found): if this machine is offline`,
		},
		"silent": {map[string]string{"pip3": started + "exit 7"}, "(exit status 7)"},
		"secret": {
			map[string]string{"pip3": started + "echo 'ERROR: 401 for https://user:hunter2@index/simple' >&2; exit 1"},
			"(401 for https://index/simple)",
		},
		"nothing downloaded": {map[string]string{"pip3": "exit 0"}, "downloaded 0 wheels"},
	} {
		t.Run(name, func(t *testing.T) {
			w, dir := makeWheel(t), t.TempDir()
			programs(t, c.scripts)
			_, err := install(t.Context(), Options{Dir: dir}, w.build)
			require.ErrorContains(t, err, c.want)
			requireOneSentence(t, err)
			require.Empty(t, folderOf(t, dir))
		})
	}
}

func TestFetchWrongHash(t *testing.T) {
	w, other, dir := makeWheel(t), makeWheel(t), t.TempDir()
	require.NoError(t, os.WriteFile(other.path, zipped(t, map[string]string{"a": "b"}), 0o600))
	programs(t, map[string]string{"pip3": downloads(other, "/dev/null")})
	_, err := install(t.Context(), Options{Dir: dir}, w.build)
	require.ErrorContains(t, err, "not "+w.sha256)
	require.Empty(t, folderOf(t, dir))
}

func TestFetchInterrupted(t *testing.T) {
	w, dir := makeWheel(t), t.TempDir()
	ready := filepath.Join(t.TempDir(), "ready")
	programs(t, map[string]string{"pip3": `case "$*" in *--version*) exit 0;; esac
: > ` + ready + "\nexec /bin/sleep 600"})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := install(ctx, Options{Dir: dir}, w.build)
		done <- err
	}()
	require.Eventually(t, func() bool { _, err := os.Stat(ready); return err == nil }, waitLong, pollOften)
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
	require.Empty(t, folderOf(t, dir))
}
