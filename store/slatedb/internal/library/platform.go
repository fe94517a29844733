package library

import (
	"cmp"
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// The C libraries of Linux that the engine is published for.
const (
	glibc = "glibc"
	musl  = "musl"
)

// Platform is what a build of the library runs on.
type Platform struct {
	OS, Arch string // as GOOS and GOARCH
	Libc     string // glibc or musl on Linux, else empty
}

// Host is the platform of this process.
func Host() Platform {
	p := Platform{OS: runtime.GOOS, Arch: runtime.GOARCH}
	if p.OS == "linux" {
		p.Libc = hostLibc("/proc/self/exe", "/bin/sh")
	}
	return p
}

// For is the platform with these names, each taken from the host when empty. A
// foreign Linux has glibc unless libc says otherwise.
func For(goos, arch, libc string) Platform {
	host := Host()
	p := Platform{OS: cmp.Or(goos, host.OS), Arch: cmp.Or(arch, host.Arch), Libc: libc}
	if p.OS == "linux" && p.Libc == "" {
		p.Libc = cmp.Or(host.Libc, glibc)
	}
	return p
}

// String is the platform as the name of a folder: linux-amd64-glibc.
func (p Platform) String() string {
	if p.Libc == "" {
		return p.OS + "-" + p.Arch
	}
	return p.OS + "-" + p.Arch + "-" + p.Libc
}

// FileName is the name of the library's file.
func (p Platform) FileName() string {
	if p.OS == "darwin" {
		return "libslatedb_uniffi.dylib"
	}
	return "libslatedb_uniffi.so"
}

// CacheDir is the folder that [Install] fills by default. It depends on nothing
// but the user, so that all programs of one user share it.
func (p Platform) CacheDir() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no cache folder (%w): set HOME or XDG_CACHE_HOME", err)
	}
	return filepath.Join(cache, "slap", "slatedb", Version, p.String()), nil
}

// hostLibc reads the C library off the loader that the first dynamically linked
// one of the programs asks for. The files of a loader prove nothing: a
// distribution may carry both.
func hostLibc(programs ...string) string {
	for _, program := range programs {
		switch loader := loaderOf(program); {
		case strings.Contains(loader, "ld-musl"):
			return musl
		case loader != "":
			return glibc
		}
	}
	return glibc
}

// loaderOf is the program interpreter of an ELF file, empty if it has none.
func loaderOf(program string) string {
	f, err := elf.Open(program)
	if err != nil {
		return ""
	}
	defer f.Close() //nolint:errcheck // only read from
	for _, p := range f.Progs {
		if p.Type != elf.PT_INTERP {
			continue
		}
		name := make([]byte, p.Filesz)
		if _, err := p.ReadAt(name, 0); err == nil {
			return strings.TrimRight(string(name), "\x00")
		}
	}
	return ""
}
