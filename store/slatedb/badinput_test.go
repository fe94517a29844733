//go:build cgo && (linux || darwin)

package slatedb

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slap-go/slap/store"
)

// soon is how long a user may wait for the sentence that says what is wrong.
const soon = 10 * time.Second

func requireSentence(t *testing.T, said, want string, took time.Duration) {
	t.Helper()
	require.Contains(t, said, want)
	require.NotContains(t, strings.TrimSpace(said), "\n")
	require.Less(t, len(said), 600)
	require.Less(t, took, soon)
}

// TestBadLibrary loads what is not the engine's library, each in a process of its own.
func TestBadLibrary(t *testing.T) {
	t.Parallel()
	engine, err := locate()
	require.NoError(t, err)
	whole, err := os.ReadFile(engine)
	require.NoError(t, err)
	dir := t.TempDir()
	file := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, content, 0o600))
		return path
	}
	for name, c := range map[string]struct{ path, want string }{
		"none":         {"", "the engine's library is missing: run \"go run github.com/slap-go/slap/store/slatedb/install"},
		"no such file": {filepath.Join(dir, "nothing.so"), "SLATEDB_LIBRARY names " + dir + "/nothing.so, which does not exist: unset SLATEDB_LIBRARY, or set"},
		"a folder":     {dir, "is not a file"},
		"text":         {file("text.so", []byte("hello")), "text.so is not a shared library"},
		"half of it":   {file("half.so", whole[:len(whole)/2]), "half.so is cut short or damaged"},
		"all but one":  {file("short.so", whole[:len(whole)-1]), "short.so is cut short or damaged"},
		"a program":    {programPath(t), "is not a shared library"},
		"the C library": {
			cLibrary(t), "is not SlateDB 0.17.0's library (it has no function ffi_slatedb_uniffi_uniffi_contract_version): unset",
		},
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			said := loadIn(t, "SLATEDB_LIBRARY="+c.path, "HOME="+dir, "XDG_CACHE_HOME=")
			requireSentence(t, said, c.want, time.Since(start))
		})
	}
}

func loadIn(t *testing.T, environment ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), programPath(t))
	cmd.Env = append(append(os.Environ(), taskVariable+"=load"), environment...)
	output, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", output)
	return string(output)
}

func programPath(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	return self
}

// cLibrary is a shared library of this machine that is not the engine's.
func cLibrary(t *testing.T) string {
	t.Helper()
	for _, pattern := range []string{"/lib/*/libm.so.6", "/lib64/libm.so.6", "/lib/ld-musl-*.so.1"} {
		if paths, _ := filepath.Glob(pattern); len(paths) > 0 {
			return paths[0]
		}
	}
	return compile(t, "int nothing;")
}

// TestBadSettings opens databases with mistyped settings.
func TestBadSettings(t *testing.T) {
	s := openStore(t, store.Memory())
	for name, c := range map[string]struct {
		given map[string]any
		want  string
	}{
		"key":      {map[string]any{"flush_intervall": "1s"}, `unknown setting "flush_intervall", did you mean "flush_interval"?`},
		"deep key": {nest("compactor_options.worker.max_fetch", 1), `unknown setting "compactor_options.worker.max_fetch"`},
		"type":     {map[string]any{"l0_max_ssts": "8"}, `setting "l0_max_ssts" is "8", it must be a whole number`},
		"value":    {map[string]any{"l0_max_ssts": 0}, `setting "l0_max_ssts" is 0, it must be at least 2`},
		"relation": {map[string]any{"max_unflushed_bytes": 1 << 20}, `setting "max_unflushed_bytes" is 1048576, it must be more than`},
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			_, err := Open(t.Context(), s, "bad", &Options{Settings: c.given})
			require.ErrorIs(t, err, ErrInvalid)
			requireSentence(t, err.Error(), c.want, time.Since(start))
		})
	}
}
