package library

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// handmade is a wheel with two files, one of them edited, and its build.
type handmade struct {
	build
	path string
	want map[string]string // contents of the files in the folder
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func makeWheel(t *testing.T) handmade {
	t.Helper()
	members := map[string]string{
		"companion.libs/libcompanion.so": "companion",
		folder + so:                      "library $ORIGIN/../../slatedb.libs\x00 end",
		"slatedb/__init__.py":            "from .uniffi import *",
	}
	data := zipped(t, members)
	path := filepath.Join(t.TempDir(), "slatedb-0.17.0-py3-none-handmade.whl")
	require.NoError(t, os.WriteFile(path, data, 0o600))
	lib := string(besideItself([]byte(members[folder+so])))
	return handmade{
		build: build{tag: "handmade", sha256: hash(data), files: []file{
			{name: "libcompanion.so", member: "companion.libs/libcompanion.so", sha256: hash([]byte("companion"))},
			{name: so, member: folder + so, sha256: hash([]byte(lib)), edit: besideItself},
		}},
		path: path,
		want: map[string]string{"libcompanion.so": "companion", so: lib},
	}
}

func zipped(t *testing.T, members map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for name, data := range members {
		w, err := z.Create(name)
		require.NoError(t, err)
		_, err = w.Write([]byte(data))
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return out.Bytes()
}

// folderOf is what a folder holds, hidden files too.
func folderOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	got := map[string]string{}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		got[e.Name()] = string(data)
	}
	return got
}

func TestBesideItselfKeepsTheSize(t *testing.T) {
	before := []byte("a\x00$ORIGIN/../../slatedb.libs\x00b")
	after := besideItself(before)
	require.Len(t, after, len(before))
	require.Equal(t, "a\x00$ORIGIN\x00", string(after[:10]))
	require.Equal(t, byte('b'), after[len(after)-1])
	require.NotContains(t, string(after), "slatedb.libs")
}
