package library

import (
	"debug/elf"
	"debug/macho"
	"errors"
	"fmt"
	"os"
)

var (
	errForeign = errors.New("is not a shared library")
	errCut     = errors.New("is cut short or damaged")
)

// inspect checks that a file is a whole shared library of a platform. The
// system's loader maps a file that was cut short without an error, and the
// process dies at the first access to what is missing. The error ends with the
// remedy.
func inspect(path string, p Platform, remedy string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a file: %s", path, remedy)
	}
	whole := wholeELF
	if p.OS == "darwin" {
		whole = wholeMachO
	}
	if err := whole(path, info.Size(), p); err != nil {
		return fmt.Errorf("%s %w: %s", path, err, remedy)
	}
	return nil
}

var elfMachines = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}

func wholeELF(path string, size int64, p Platform) error {
	if !startsWith(path, elf.ELFMAG) {
		return errForeign
	}
	f, err := elf.Open(path)
	if err != nil {
		return errCut
	}
	defer f.Close() //nolint:errcheck // only read from
	if m, known := elfMachines[p.Arch]; f.Type != elf.ET_DYN || known && f.Machine != m {
		return fmt.Errorf("%w of %s", errForeign, p)
	}
	for _, part := range f.Progs {
		if part.Off+part.Filesz > uint64(size) {
			return errCut
		}
	}
	return nil
}

var machoCPUs = map[string]macho.Cpu{"amd64": macho.CpuAmd64, "arm64": macho.CpuArm64}

func wholeMachO(path string, size int64, p Platform) error {
	if startsWith(path, "\xca\xfe\xba\xbe") { // several platforms in one file: the system chooses
		return nil
	}
	if !startsWith(path, "\xcf\xfa\xed\xfe") {
		return errForeign
	}
	f, err := macho.Open(path)
	if err != nil {
		return errCut
	}
	defer f.Close() //nolint:errcheck // only read from
	if cpu, known := machoCPUs[p.Arch]; f.Type != macho.TypeDylib || known && f.Cpu != cpu {
		return fmt.Errorf("%w of %s", errForeign, p)
	}
	for _, l := range f.Loads {
		if s, ok := l.(*macho.Segment); ok && s.Offset+s.Filesz > uint64(size) {
			return errCut
		}
	}
	return nil
}

func startsWith(path, magic string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close() //nolint:errcheck // only read from
	head := make([]byte, len(magic))
	_, err = f.ReadAt(head, 0)
	return err == nil && string(head) == magic
}
