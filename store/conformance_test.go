package store_test

import (
	"testing"

	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/store/storetest"
)

func TestMemoryConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Bucket { return open(t, store.Memory()) })
}

func TestDirConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Bucket { return open(t, store.Dir(t.TempDir())) })
}

// Buckets of one store share its objects; another store has its own.
func TestMemoryIsShared(t *testing.T) {
	s := store.Memory()
	a, b, other := open(t, s), open(t, s), open(t, store.Memory())
	v, err := a.Put(t.Context(), "key", []byte("data"), store.IfAbsent())
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if o, err := b.Get(t.Context(), "key"); err != nil || o.Version != v || string(o.Data) != "data" {
		t.Errorf("through another bucket: %q %s, %v", o.Data, o.Version, err)
	}
	if entries, err := other.List(t.Context(), ""); err != nil || len(entries) != 0 {
		t.Errorf("another store lists %v, %v", entries, err)
	}
	if again, err := b.Put(t.Context(), "key", []byte("data"), store.IfMatch(v)); err != nil || again == v {
		t.Errorf("equal bytes written again have version %s after %s, %v", again, v, err)
	}
}
