package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/slap-go/slap/store/slatedb/internal/library"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestOptions(t *testing.T) {
	o, err := options(nil)
	require.NoError(t, err)
	require.Equal(t, library.Options{Platform: library.Host()}, o)

	o, err = options([]string{"-wheel", "w", "-dir", "d", "-force", "-os", "linux", "-arch", "arm64", "-libc", "musl"})
	require.NoError(t, err)
	platform := library.Platform{OS: "linux", Arch: "arm64", Libc: "musl"}
	require.Equal(t, library.Options{Platform: platform, Wheel: "w", Dir: "d", Force: true}, o)

	_, err = options([]string{"0.17.0"})
	require.ErrorContains(t, err, `unexpected argument "0.17.0"`)
}

func TestInstallWarnsOfTheVariable(t *testing.T) {
	var out bytes.Buffer
	t.Setenv(library.Variable, "")
	warn(&out)
	require.Empty(t, out.String())
	t.Setenv(library.Variable, "/some/lib.so")
	warn(&out)
	require.Equal(t, "slatedb: SLATEDB_LIBRARY is set to /some/lib.so: "+
		"programs load that file and not the installed one, until it is unset\n", out.String())
}

// TestInstallSaysWhatItDoes fetches with a pip that takes longer than the command
// is silent.
func TestInstallSaysWhatItDoes(t *testing.T) {
	dir := t.TempDir()
	const pip = "#!/bin/sh\ncase \"$*\" in *--version*) exit 0;; esac\n/bin/sleep 3\necho 'ERROR: no route' >&2\nexit 1\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "pip3"), []byte(pip), 0o700))
	t.Setenv("PATH", dir)
	var out bytes.Buffer
	o := library.Options{Platform: library.Platform{OS: "darwin", Arch: "arm64"}, Dir: t.TempDir()}
	err := install(t.Context(), o, &out)
	require.ErrorContains(t, err, "(no route)")
	require.Contains(t, out.String(), "slatedb: downloading slatedb 0.17.0 for macosx_11_0_arm64 (10 MB) with pip3\nslatedb: … 2 s\n")
}
