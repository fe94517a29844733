// Package storetest checks that a [store.Bucket] keeps its contract. Whoever
// brings a store of their own calls [Run] from a test.
package storetest

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/slap-go/slap/store"
)

// patience bounds each check. It is generous, for stores far away and machines under load.
const patience = 2 * time.Minute

// Run checks the contract on buckets that open returns, each on a place of its
// own without objects. It closes them. Bodies are never equal where versions have
// to differ, since some stores derive the version from the body.
func Run(t *testing.T, open func(t *testing.T) store.Bucket) {
	t.Helper()
	checks := []struct {
		name  string
		check func(t *testing.T, b store.Bucket)
	}{
		{"Missing", checkMissing},
		{"Create", checkCreate},
		{"Match", checkMatch},
		{"Overwrite", checkOverwrite},
		{"Delete", checkDelete},
		{"Bodies", checkBodies},
		{"InvalidKeys", checkInvalidKeys},
		{"OddKeys", checkOddKeys},
		{"List", checkList},
		{"ListMany", checkListMany},
		{"CancelledBefore", checkCancelledBefore},
		{"CancelledWhile", checkCancelledWhile},
		{"Close", checkClose},
		{"RaceCreate", checkRaceCreate},
		{"RaceMatch", checkRaceMatch},
		{"Counters", checkCounters},
	}
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			b := open(t)
			defer func() {
				if err := b.Close(); err != nil {
					t.Errorf("Close: %v", err)
				}
			}()
			c.check(t, b)
		})
	}
}

func timeout(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

func mustPut(t *testing.T, b store.Bucket, key, data string, c store.Condition) store.Version {
	t.Helper()
	v, err := b.Put(timeout(t), key, []byte(data), c)
	if err != nil {
		t.Fatalf("Put(%q): %v", key, err)
	}
	if v == "" {
		t.Fatalf("Put(%q) returned an empty version", key)
	}
	return v
}

func mustGet(t *testing.T, b store.Bucket, key string) store.Object {
	t.Helper()
	o, err := b.Get(timeout(t), key)
	if err != nil {
		t.Fatalf("Get(%q): %v", key, err)
	}
	return o
}

func mustHold(t *testing.T, b store.Bucket, key, data string, v store.Version) {
	t.Helper()
	o := mustGet(t, b, key)
	if string(o.Data) != data || o.Version != v {
		t.Fatalf("Get(%q) = %.40q %s, want %.40q %s", key, o.Data, o.Version, data, v)
	}
}

func mustConflict(t *testing.T, b store.Bucket, key string, c store.Condition) {
	t.Helper()
	if v, err := b.Put(timeout(t), key, []byte("refused"), c); !errors.Is(err, store.ErrConflict) {
		t.Fatalf("Put(%q) = %q, %v, want ErrConflict", key, v, err)
	}
}

func mustBeMissing(t *testing.T, b store.Bucket, key string) {
	t.Helper()
	if o, err := b.Get(timeout(t), key); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("Get(%q) = %.40q, %v, want ErrNotFound", key, o.Data, err)
	}
}

func mustDelete(t *testing.T, b store.Bucket, key string) {
	t.Helper()
	if err := b.Delete(timeout(t), key); err != nil {
		t.Fatalf("Delete(%q): %v", key, err)
	}
}

func checkMissing(t *testing.T, b store.Bucket) {
	mustBeMissing(t, b, "nothing")
	mustBeMissing(t, b, "deep/down/nothing")
	mustConflict(t, b, "nothing", store.IfMatch("1"))
	mustConflict(t, b, "nothing", store.IfMatch(""))
	mustDelete(t, b, "nothing")
	mustBeMissing(t, b, "nothing")
}

func checkCreate(t *testing.T, b store.Bucket) {
	v := mustPut(t, b, "dir/key", "one", store.IfAbsent())
	mustConflict(t, b, "dir/key", store.IfAbsent())
	mustHold(t, b, "dir/key", "one", v)
}

func checkMatch(t *testing.T, b store.Bucket) {
	one := mustPut(t, b, "key", "one", store.IfAbsent())
	two := mustPut(t, b, "key", "two", store.IfMatch(one))
	if one == two {
		t.Fatalf("two writes have the same version %q", one)
	}
	for _, stale := range []store.Version{one, "", "no version of this store", two + "x"} {
		mustConflict(t, b, "key", store.IfMatch(stale))
	}
	mustHold(t, b, "key", "two", two)
	mustHold(t, b, "key", "three", mustPut(t, b, "key", "three", store.IfMatch(two)))

	other := mustPut(t, b, "other", "its own", store.IfAbsent())
	mustConflict(t, b, "key", store.IfMatch(other))
}

func checkOverwrite(t *testing.T, b store.Bucket) {
	one := mustPut(t, b, "key", "one", store.Overwrite())
	two := mustPut(t, b, "key", "two", store.Overwrite())
	mustHold(t, b, "key", "two", two)
	mustConflict(t, b, "key", store.IfMatch(one))
}

func checkDelete(t *testing.T, b store.Bucket) {
	one := mustPut(t, b, "key", "one", store.IfAbsent())
	mustPut(t, b, "neighbour", "stays", store.IfAbsent())
	mustDelete(t, b, "key")
	mustDelete(t, b, "key")
	mustBeMissing(t, b, "key")
	mustConflict(t, b, "key", store.IfMatch(one))
	for i := range 3 {
		v := mustPut(t, b, "key", "again "+string(rune('a'+i)), store.IfAbsent())
		if v == one {
			t.Fatalf("the key was created again with its old version %q", v)
		}
		mustConflict(t, b, "key", store.IfMatch(one))
		mustDelete(t, b, "key")
	}
	mustBeMissing(t, b, "key")
	mustGet(t, b, "neighbour")
}

func checkBodies(t *testing.T, b store.Bucket) {
	v := mustPut(t, b, "empty", "", store.IfAbsent())
	mustHold(t, b, "empty", "", v)
	if _, err := b.Put(timeout(t), "nil", nil, store.IfAbsent()); err != nil {
		t.Fatalf("Put of nil: %v", err)
	}
	mustHold(t, b, "empty", "full", mustPut(t, b, "empty", "full", store.IfMatch(v)))

	large := make([]byte, 1<<20)
	for i := range large {
		large[i] = byte(i * 7 >> 3)
	}
	kept := bytes.Clone(large)
	mustPut(t, b, "large", string(large), store.IfAbsent())
	if _, err := b.Put(timeout(t), "lent", large, store.IfAbsent()); err != nil {
		t.Fatalf("Put of 1 MiB: %v", err)
	}
	clear(large)
	for _, key := range []string{"large", "lent", "lent"} {
		data := mustGet(t, b, key).Data
		if !bytes.Equal(data, kept) {
			t.Fatalf("Get(%q) returned other bytes than were put", key)
		}
		clear(data)
	}
}
