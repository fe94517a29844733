package slatedb

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// loadOther loads another library in a process of its own and returns what load says.
func loadOther(t *testing.T, path string) string {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), "SLATEDB_LIBRARY="+path, taskVariable+"=load")
	output, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", output)
	return string(output)
}

func compile(t *testing.T, code string) string {
	t.Helper()
	compiler, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler to make another library with")
	}
	dir := t.TempDir()
	source, library := filepath.Join(dir, "other.c"), filepath.Join(dir, "other.so")
	require.NoError(t, os.WriteFile(source, []byte(code), 0o600))
	output, err := exec.CommandContext(t.Context(), compiler, "-shared", "-fPIC", "-o", library, source).CombinedOutput()
	require.NoError(t, err, "%s", output)
	return library
}

// fakeABI has the functions that every version has.
const fakeABI = `
#define F(name) void ffi_slatedb_uniffi_##name(void) {}
F(rustbuffer_alloc) F(rustbuffer_free)
F(rust_future_poll_rust_buffer) F(rust_future_poll_u64) F(rust_future_poll_void)
F(rust_future_complete_rust_buffer) F(rust_future_complete_u64) F(rust_future_complete_void)
F(rust_future_free_rust_buffer) F(rust_future_free_u64) F(rust_future_free_void)
unsigned ffi_slatedb_uniffi_uniffi_contract_version(void) { return CONTRACT; }
`

func TestLoadRefusesOtherVersions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, code, want string }{
		{"contract", "#define CONTRACT 29" + fakeABI, "its ABI has version 29, not 30"},
		{"function", "#define CONTRACT 30" + fakeABI, "constructor_writebatch_new has checksum -1"},
		{
			"checksum", "#define CONTRACT 30" + fakeABI +
				"void uniffi_slatedb_uniffi_fn_constructor_writebatch_new(void) {}\n" +
				"unsigned short uniffi_slatedb_uniffi_checksum_constructor_writebatch_new(void) { return 7; }\n",
			"constructor_writebatch_new has checksum 7, not ",
		},
		{"symbol", "int nothing;", "it has no function ffi_slatedb_uniffi_"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			library := compile(t, c.code)
			said := loadOther(t, library)
			require.Contains(t, said, c.want)
			require.Contains(t, said, library+" is not SlateDB 0.17.0's library (")
			require.Contains(t, said, "): unset SLATEDB_LIBRARY, or set it to the library's file")
		})
	}
}

func TestLoadRefusesWhatIsNoLibrary(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "text.so")
	require.NoError(t, os.WriteFile(path, []byte("no library"), 0o600))
	require.Contains(t, loadOther(t, path), path+" is not a shared library")
}

func TestEveryMethodHasAChecksum(t *testing.T) {
	for m := range methods {
		require.NotEmpty(t, methods[m].name, "method %d", m)
		require.Positive(t, methods[m].checksum, methods[m].name)
	}
	require.Contains(t, []string{"linux", "darwin"}, runtime.GOOS)
}
