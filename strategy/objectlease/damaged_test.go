package objectlease

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/strategy/lease"
)

// A power loss may leave a lease's file shorter than it was written.
func TestOL7_ALeaseThatIsDamagedOnADirectoryCanBeReplaced(t *testing.T) {
	dir := t.TempDir()
	r, err := open(t.Context(), store.Dir(dir), "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	whole := lease.Record{Owner: "a", Incarnation: "i", Generation: 3, TTL: 1e9, Nonce: "n"}
	v, err := r.WriteLease(t.Context(), lease.Lease{Shard: 7, Record: whole})
	if err != nil {
		t.Fatal(err)
	}
	truncate(t, dir, "000007")
	l, err := r.ReadLease(t.Context(), 7)
	if err != nil || !l.Unreadable || l.Version == "" || l.Version == v {
		t.Fatalf("%+v, %v: want it unreadable, in a version of its own", l, err)
	}
	if _, err := r.WriteLease(t.Context(), lease.Lease{Shard: 7, Version: v, Record: whole}); !errors.Is(err, lease.ErrConflict) {
		t.Errorf("a write over the version before the damage: %v", err)
	}
	listing, err := r.List(t.Context())
	if err != nil || listing.Leases[7] != l.Version {
		t.Errorf("the listing shows %q, the read %q, %v", listing.Leases[7], l.Version, err)
	}
	if _, err := r.WriteLease(t.Context(), lease.Lease{Shard: 7, Version: l.Version, Record: whole}); err != nil {
		t.Error(err)
	}
}

// truncate cuts the newest version of the key that contains the text.
func truncate(t *testing.T, dir, text string) {
	t.Helper()
	var newest string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.Contains(path, text) {
			newest = path
		}
		return err
	})
	if err != nil || newest == "" {
		t.Fatalf("no file of %s: %v", text, err)
	}
	if err := os.Truncate(newest, 10); err != nil {
		t.Fatal(err)
	}
}
