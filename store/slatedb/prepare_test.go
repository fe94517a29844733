package slatedb

import (
	"errors"
	"testing"

	"github.com/slap-go/slap/store"
)

func TestPrepareMergesTheSettingsOnceForAllOpens(t *testing.T) {
	bad := Options{Settings: map[string]any{"flush_intervall": "1s"}}
	if err := bad.Prepare(); !errors.Is(err, ErrInvalid) {
		t.Errorf("an unknown key: %v", err)
	}
	o := Options{Settings: map[string]any{"flush_interval": nil}}
	if err := o.Prepare(); err != nil {
		t.Fatal(err)
	}
	o.Settings["flush_intervall"] = "1s" // has no effect any more
	copied := o
	objects, err := NewObjectStore(t.Context(), store.Memory())
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"a", "b"} {
		db, err := Open(t.Context(), objects, path, &copied)
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Close(t.Context(), nil); err != nil {
			t.Error(err)
		}
	}
	if err := objects.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
