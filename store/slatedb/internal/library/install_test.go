package library

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestInstallFromWheel(t *testing.T) {
	w, dir := makeWheel(t), filepath.Join(t.TempDir(), "not", "there", "yet")
	var said []string
	o := Options{Dir: dir, Wheel: w.path, Say: func(line string) { said = append(said, line) }}

	path, err := install(t.Context(), o, w.build)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, so), path)
	require.Equal(t, w.want, folderOf(t, dir), "no work folder is left")
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o755), info.Mode().Perm())
	require.Len(t, said, 2)

	o.Wheel = "" // neither a wheel nor pip is needed when all is there
	t.Setenv("PATH", t.TempDir())
	_, err = install(t.Context(), o, w.build)
	require.NoError(t, err)
	require.Contains(t, said[2], "is there")
}

func TestInstallRepairs(t *testing.T) {
	w := makeWheel(t)
	for name, damage := range map[string]func(dir string) error{
		"library cut":       func(dir string) error { return os.Truncate(filepath.Join(dir, so), 3) },
		"library gone":      func(dir string) error { return os.Remove(filepath.Join(dir, so)) },
		"companion gone":    func(dir string) error { return os.Remove(filepath.Join(dir, "libcompanion.so")) },
		"companion changed": func(dir string) error { return os.WriteFile(filepath.Join(dir, "libcompanion.so"), []byte("x"), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			o := Options{Dir: t.TempDir(), Wheel: w.path}
			_, err := install(t.Context(), o, w.build)
			require.NoError(t, err)
			require.NoError(t, damage(o.Dir))
			_, err = install(t.Context(), o, w.build)
			require.NoError(t, err)
			require.Equal(t, w.want, folderOf(t, o.Dir))
		})
	}
}

func TestInstallForce(t *testing.T) {
	w := makeWheel(t)
	o := Options{Dir: t.TempDir(), Wheel: w.path}
	path, err := install(t.Context(), o, w.build)
	require.NoError(t, err)
	before, err := os.Stat(path)
	require.NoError(t, err)
	o.Force = true
	_, err = install(t.Context(), o, w.build)
	require.NoError(t, err)
	after, err := os.Stat(path)
	require.NoError(t, err)
	require.False(t, os.SameFile(before, after), "it was replaced, not written over")
}

// TestInstallConcurrently has readers that see only whole files, while installers
// replace them.
func TestInstallConcurrently(t *testing.T) {
	w, dir := makeWheel(t), t.TempDir()
	o := Options{Dir: dir, Wheel: w.path, Force: true}
	_, err := install(t.Context(), o, w.build)
	require.NoError(t, err)

	var installers, readers sync.WaitGroup
	stop := make(chan struct{})
	torn := make(chan string, 1)
	readers.Go(func() {
		for {
			for name, want := range w.want {
				if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
					torn <- name
					return
				}
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	failures := make(chan error, 8)
	for range cap(failures) {
		installers.Go(func() {
			for range 5 {
				if _, err := install(t.Context(), o, w.build); err != nil {
					failures <- err
					return
				}
			}
		})
	}
	installers.Wait()
	close(stop)
	readers.Wait()
	require.Empty(t, failures)
	require.Empty(t, torn)
	require.Equal(t, w.want, folderOf(t, dir))
}

func TestInstallRemovesAbandonedWork(t *testing.T) {
	w, dir := makeWheel(t), t.TempDir()
	old, recent := filepath.Join(dir, ".install-1"), filepath.Join(dir, ".install-2")
	for _, d := range []string{old, recent} {
		require.NoError(t, os.Mkdir(d, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(d, so), []byte("half"), 0o600))
	}
	long := time.Now().Add(-2 * abandonedAfter)
	require.NoError(t, os.Chtimes(old, long, long))
	_, err := install(t.Context(), Options{Dir: dir, Wheel: w.path}, w.build)
	require.NoError(t, err)
	require.NoDirExists(t, old)
	require.DirExists(t, recent, "another process may be at work")
}

func TestInstallRefuses(t *testing.T) {
	w := makeWheel(t)
	other := zipped(t, map[string]string{"other": "wheel"})
	missing, unedited := w.build, w.build
	missing.files = []file{{name: so, member: "no/such/member", sha256: "00"}}
	unedited.files = []file{{name: so, member: folder + so, sha256: w.files[1].sha256}}

	for name, c := range map[string]struct {
		content []byte // of the wheel; nil: the hand-made one
		build   build
		want    string
	}{
		"text":              {[]byte("hello"), w.build, "is not a wheel: name the file slatedb-0.17.0-….whl for handmade"},
		"empty":             {[]byte{}, w.build, "is not a wheel"},
		"another wheel":     {other, w.build, "is not the wheel of slatedb 0.17.0 for handmade: its SHA-256 is " + hash(other)},
		"missing member":    {nil, missing, "the wheel has no no/such/member"},
		"wrong member hash": {nil, unedited, so + " in the wheel has the SHA-256 "},
	} {
		t.Run(name, func(t *testing.T) {
			o := Options{Platform: Platform{"linux", "amd64", glibc}, Dir: t.TempDir(), Wheel: w.path}
			if c.content != nil {
				o.Wheel = filepath.Join(t.TempDir(), "x.whl")
				require.NoError(t, os.WriteFile(o.Wheel, c.content, 0o600))
			}
			_, err := install(t.Context(), o, c.build)
			require.ErrorContains(t, err, c.want)
			requireOneSentence(t, err)
			require.Empty(t, folderOf(t, o.Dir), "nothing is left behind")
		})
	}
}

func TestInstallRefusesBeforeItStarts(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	linux := Platform{"linux", "amd64", glibc}
	for name, c := range map[string]struct {
		o    Options
		env  map[string]string
		want string
	}{
		"unsupported": {
			o:    Options{Platform: Platform{OS: "windows", Arch: "amd64"}},
			want: "is not published for windows-amd64, only for darwin-arm64, linux-amd64-glibc, ",
		},
		"no home": {
			o:    Options{Platform: linux},
			env:  map[string]string{"HOME": "", "XDG_CACHE_HOME": ""},
			want: "set HOME or XDG_CACHE_HOME, or name a folder with -dir",
		},
		"unwritable": {
			o:    Options{Platform: linux, Dir: filepath.Join(file, "below")},
			want: "cannot write to the folder " + file,
		},
		"no wheel": {
			o:    Options{Platform: linux, Dir: t.TempDir(), Wheel: "/no/such.whl"},
			want: "the wheel /no/such.whl does not exist",
		},
	} {
		t.Run(name, func(t *testing.T) {
			for k, v := range c.env {
				t.Setenv(k, v)
			}
			_, err := Install(t.Context(), c.o)
			require.ErrorContains(t, err, c.want)
			requireOneSentence(t, err)
		})
	}
}

func TestInstallNamesTheOtherPlatform(t *testing.T) {
	w := makeWheel(t)
	elsewhere := Platform{"linux", "riscv64", glibc}
	builds[elsewhere] = w.build
	defer delete(builds, elsewhere)
	_, err := Install(t.Context(), Options{Platform: Platform{"linux", "arm64", musl}, Dir: t.TempDir(), Wheel: w.path})
	require.ErrorContains(t, err, "is the wheel for linux-riscv64-glibc, not for linux-arm64-musl")
}

func requireOneSentence(t *testing.T, err error) {
	t.Helper()
	require.NotContains(t, err.Error(), "\n")
	require.Less(t, len(err.Error()), 500)
}

// TestInstalledLibrary checks the real one where it is installed.
func TestInstalledLibrary(t *testing.T) {
	b, err := pinned(Host())
	if err != nil {
		t.Skip(err)
	}
	path, err := Find(func(string) bool { return false })
	if errors.Is(err, ErrMissing) {
		t.Skip(err)
	}
	require.NoError(t, err)
	require.True(t, b.installed(filepath.Dir(path)), "%s is not the pinned library", path)
}

func TestPinnedTableIsWellFormed(t *testing.T) {
	require.Len(t, builds, 5)
	for p, b := range builds {
		require.Len(t, b.sha256, 64, p)
		require.Equal(t, p.FileName(), b.files[len(b.files)-1].name, "the library comes last")
		require.Equal(t, p.Libc == musl, len(b.files) == 2, p)
		for _, f := range b.files {
			require.Len(t, f.sha256, 64, f.name)
			require.True(t, strings.HasSuffix(f.member, f.name))
		}
	}
}

func TestHost(t *testing.T) {
	h := Host()
	require.Equal(t, runtime.GOOS, h.OS)
	require.Equal(t, runtime.GOARCH, h.Arch)
	require.Equal(t, "plan9-386", For("plan9", "386", "").String())
	require.Equal(t, "linux-386-musl", For("linux", "386", musl).String())
}

func TestHostLibc(t *testing.T) {
	gcc, err := exec.LookPath("gcc")
	if err != nil || runtime.GOOS != "linux" {
		t.Skip("needs gcc on Linux")
	}
	dir := t.TempDir()
	src := filepath.Join(dir, "main.c")
	require.NoError(t, os.WriteFile(src, []byte("int main(void) { return 0; }"), 0o600))
	compile := func(name string, flags ...string) string {
		out := filepath.Join(dir, name)
		args := append([]string{"-o", out, src}, flags...)
		text, err := exec.CommandContext(t.Context(), gcc, args...).CombinedOutput()
		require.NoError(t, err, string(text))
		return out
	}
	asMusl := compile("musl", "-Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1")
	asGlibc := compile("glibc")
	static := compile("static", "-static")
	require.Equal(t, musl, hostLibc(asMusl, asGlibc))
	require.Equal(t, glibc, hostLibc(asGlibc, asMusl))
	require.Equal(t, musl, hostLibc(static, asMusl), "a static program asks for no loader")
	require.Equal(t, glibc, hostLibc("/no/such/program", static))
}

func TestInstallInterrupted(t *testing.T) {
	w, dir := makeWheel(t), t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	o := Options{Dir: dir, Wheel: w.path, Say: func(line string) {
		if strings.HasPrefix(line, "unpacking") {
			cancel()
		}
	}}
	_, err := install(ctx, o, w.build)
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, folderOf(t, dir))
}
