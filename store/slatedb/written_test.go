package slatedb

import (
	"sync/atomic"
	"testing"

	"github.com/slap-go/slap/store"
)

// A write is on its way until OnWrite was told of it, whichever way it took.
func TestWritingIsTrueUntilAWriteIsToldOf(t *testing.T) {
	var db atomic.Pointer[DB]
	var told, early atomic.Int64
	opened, err := Open(t.Context(), openStore(t, store.Memory()), "db", &Options{OnWrite: func(uint64) {
		told.Add(1)
		if !db.Load().Writing() {
			early.Add(1)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := opened.Close(t.Context(), nil); err != nil {
			t.Error(err)
		}
	}()
	db.Store(opened)
	if opened.Writing() {
		t.Error("before anything was written")
	}
	if _, err := opened.Put(t.Context(), []byte("k"), []byte("v"), nil); err != nil {
		t.Fatal(err)
	}
	tx, err := opened.Begin(t.Context(), SnapshotIsolation)
	if err != nil {
		t.Fatal(err)
	}
	if err := tx.Put(t.Context(), []byte("k"), []byte("w"), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := opened.Merge(t.Context(), []byte("k"), []byte("m"), nil); err == nil {
		t.Error("a merge without an operator")
	}
	done := make(chan struct{})
	for range 100 {
		opened.DeleteAsync([]byte("k"), func(uint64, error) { done <- struct{}{} })
	}
	for range 100 {
		<-done
	}
	if told.Load() < 3 || early.Load() > 0 {
		t.Errorf("told of %d writes, of %d too early", told.Load(), early.Load())
	}
	if opened.Writing() {
		t.Error("after everything was told")
	}
	if _, _, err := opened.Get(t.Context(), []byte("k"), nil); err != nil || opened.Writing() {
		t.Errorf("a read: %v", err)
	}
}
