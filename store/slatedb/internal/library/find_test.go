package library

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// realLibrary is some shared library of this machine.
func realLibrary(t *testing.T) []byte {
	t.Helper()
	for _, pattern := range []string{"/lib/*/libm.so.6", "/usr/lib/libm.so*", "/lib64/libm.so.6", "/usr/lib/*.dylib"} {
		for _, path := range glob(t, pattern) {
			if inspect(path, Host(), "") != nil {
				continue
			}
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			return data
		}
	}
	t.Skip("no shared library to copy on this machine")
	return nil
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	require.NoError(t, err)
	return paths
}

func absent(string) bool { return false }

func TestFindOrder(t *testing.T) {
	data, dir := realLibrary(t), t.TempDir()
	host := Host()
	paths := make([]string, 3) // named, cached, beside the executable
	for i := range paths {
		paths[i] = filepath.Join(dir, string(rune('a'+i)), host.FileName())
		require.NoError(t, os.Mkdir(filepath.Dir(paths[i]), 0o700))
		require.NoError(t, os.WriteFile(paths[i], data, 0o600))
	}
	places := []place{{path: paths[1]}, {path: paths[2]}}
	present := func(name string) bool { return name == host.FileName() }

	named := paths[0]
	for _, want := range append(paths, host.FileName()) {
		got, err := find(host, named, places, present)
		require.NoError(t, err)
		require.Equal(t, want, got)
		named = ""
		if want != host.FileName() {
			require.NoError(t, os.Remove(want))
		}
	}
	_, err := find(host, "", places, absent)
	require.ErrorIs(t, err, ErrMissing)
	for _, text := range []string{
		"run \"go run github.com/slap-go/slap/store/slatedb/install", "$SLATEDB_LIBRARY (not set)",
		paths[1], paths[2], "the system's library path", host.FileName(), Version,
	} {
		require.ErrorContains(t, err, text)
	}
	requireOneSentence(t, err)

	_, err = find(host, paths[0], places, present)
	require.ErrorIs(t, err, ErrMissing, "no fallback from a name that is wrong")
	require.ErrorContains(t, err, "SLATEDB_LIBRARY names "+paths[0]+", which does not exist: unset SLATEDB_LIBRARY, or set it to the library's file")
}

func TestFindLooksInTheUsersCache(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv(Variable, "")
	path := filepath.Join(must(Host().CacheDir())(t), Host().FileName())
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, realLibrary(t), 0o600))
	got, err := Find(absent)
	require.NoError(t, err)
	require.Equal(t, path, got)
}

func must(s string, err error) func(*testing.T) string {
	return func(t *testing.T) string {
		t.Helper()
		require.NoError(t, err)
		return s
	}
}

func TestFindWithoutHome(t *testing.T) {
	t.Setenv("HOME", "")
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv(Variable, "")
	_, err := Find(absent)
	require.ErrorIs(t, err, ErrMissing)
	require.ErrorContains(t, err, "set HOME or XDG_CACHE_HOME")
}

func TestFindRefusesDamage(t *testing.T) {
	data, host := realLibrary(t), Host()
	other := Platform{OS: host.OS, Arch: "arm64", Libc: host.Libc}
	if host.Arch == other.Arch {
		other.Arch = "amd64"
	}
	for name, c := range map[string]struct {
		data []byte
		host Platform
		want string
	}{
		"text":           {[]byte("not a library"), host, "is not a shared library"},
		"empty":          {nil, host, "is not a shared library"},
		"half":           {data[:len(data)/2], host, "is cut short or damaged"},
		"short by one":   {data[:len(data)-1], host, "is cut short or damaged"},
		"header only":    {data[:64], host, "is cut short or damaged"},
		"other platform": {data, other, "is not a shared library of " + other.String()},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), host.FileName())
			require.NoError(t, os.WriteFile(path, c.data, 0o600))
			_, err := find(c.host, "", []place{{path: path}}, absent)
			require.ErrorContains(t, err, path+" "+c.want)
			require.ErrorContains(t, err, "replace it by running")
			requireOneSentence(t, err)
			_, err = find(c.host, path, nil, absent)
			require.ErrorContains(t, err, Variable+": "+path+" "+c.want)
			require.ErrorContains(t, err, "unset SLATEDB_LIBRARY, or set it to the library's file")
			require.NotContains(t, err.Error(), "replace it by running")
			requireOneSentence(t, err)
		})
	}
	_, err := find(host, t.TempDir(), nil, absent)
	require.ErrorContains(t, err, "is not a file: unset SLATEDB_LIBRARY, or set it to the library's file")
}

func TestFindTakesAnExecutableForNoLibrary(t *testing.T) {
	exe, err := os.Executable()
	require.NoError(t, err)
	_, err = find(Host(), exe, nil, absent)
	require.ErrorContains(t, err, "is not a shared library")
}
