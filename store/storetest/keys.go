package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/slap-go/slap/store"
)

func checkInvalidKeys(t *testing.T, b store.Bucket) {
	keys := []string{
		"", "/", "/a", "a/", "a//b", ".", "..", "a/.", "a/../b", "./a", "a\x00b", "a\nb", "\xff",
		strings.Repeat("a", store.MaxSegmentLength+1), strings.Repeat("a/", store.MaxKeyLength/2) + "b",
	}
	for _, key := range keys {
		_, getErr := b.Get(timeout(t), key)
		_, putErr := b.Put(timeout(t), key, nil, store.Overwrite())
		for _, err := range []error{getErr, putErr, b.Delete(timeout(t), key)} {
			if !errors.Is(err, store.ErrInvalidKey) {
				t.Errorf("key %.40q: %v, want ErrInvalidKey", key, err)
			}
		}
	}
}

// oddKeys are valid keys that a careless mapping to file names or URLs confuses.
func oddKeys() []string {
	keys := []string{
		"a b", "a+b", "a%2fb", "a%20b", "a#b", "a?b=c&d", "a~b", "a!b", "a=b", "a:b", "a*b", `a\b`, "a'b", "(a)", "a,b;c@d$",
		".hidden", "..a", "a..", "...", "-", "_", "é", "λ/ж", "1", "2/1", "new-1", "A", "case/KEY", "case/key", "case/Key",
		strings.Repeat("s", store.MaxSegmentLength),
		strings.Repeat("S", store.MaxSegmentLength),
	}
	for _, last := range []string{"1", "2"} {
		keys = append(keys, strings.Repeat(strings.Repeat("l", 100)+"/", 5)+strings.Repeat("x", store.MaxKeyLength-506)+last)
	}
	return keys
}

func checkOddKeys(t *testing.T, b store.Bucket) {
	keys := oddKeys()
	versions := map[string]store.Version{}
	for i, key := range keys {
		versions[key] = mustPut(t, b, key, fmt.Sprint(i), store.IfAbsent())
	}
	for i, key := range keys {
		mustHold(t, b, key, fmt.Sprint(i), versions[key])
	}
	slices.Sort(keys)
	mustList(t, b, "", keys)
	for _, key := range keys {
		mustDelete(t, b, key)
	}
	mustList(t, b, "", nil)
}

// mustList checks the keys of a listing, and that each line has the version of its object.
func mustList(t *testing.T, b store.Bucket, prefix string, want []string) {
	t.Helper()
	entries, err := b.List(timeout(t), prefix)
	if err != nil {
		t.Fatalf("List(%q): %v", prefix, err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Key)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("List(%q) has %d keys %.300q, want %d %.300q", prefix, len(got), got, len(want), want)
	}
	for i := 0; i < len(entries); i += 1 + len(entries)/50 {
		e := entries[i]
		if v := mustGet(t, b, e.Key).Version; v != e.Version {
			t.Fatalf("List(%q) says that %q has version %q, Get says %q", prefix, e.Key, e.Version, v)
		}
		if e.Modified.IsZero() {
			t.Fatalf("List(%q) does not say when %q was modified", prefix, e.Key)
		}
	}
}

func checkList(t *testing.T, b store.Bucket) {
	mustList(t, b, "", nil)
	mustList(t, b, "none/", nil)
	for _, key := range []string{"b/2", "b/10", "b/deep/1", "a", "b-", "c/1", "b0"} {
		mustPut(t, b, key, "data of "+key, store.IfAbsent())
	}
	mustList(t, b, "", []string{"a", "b-", "b/10", "b/2", "b/deep/1", "b0", "c/1"})
	mustList(t, b, "b/", []string{"b/10", "b/2", "b/deep/1"})
	mustList(t, b, "b", []string{"b-", "b/10", "b/2", "b/deep/1", "b0"})
	mustList(t, b, "b/1", []string{"b/10"})
	mustList(t, b, "b/deep/1", []string{"b/deep/1"})
	mustList(t, b, "b/deep/1/", nil)
	mustDelete(t, b, "b/10")
	mustPut(t, b, "b/2", "changed", store.Overwrite())
	mustList(t, b, "b/", []string{"b/2", "b/deep/1"})
	mustPut(t, b, "b/10", "back", store.IfAbsent())
	mustList(t, b, "b/", []string{"b/10", "b/2", "b/deep/1"})
}

func checkListMany(t *testing.T, b store.Bucket) {
	var group errgroup.Group
	group.SetLimit(16)
	var all, tens []string
	ctx := timeout(t)
	for i := range 2_100 { // more than two pages of S3
		key := fmt.Sprintf("many/%04d", i)
		all = append(all, key)
		if i < 1_000 {
			tens = append(tens, key)
		}
		group.Go(func() error {
			_, err := b.Put(ctx, key, []byte(key), store.IfAbsent())
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatalf("Put: %v", err)
	}
	mustList(t, b, "many/", all)
	mustList(t, b, "many/0", tens)
	mustList(t, b, "many/2", all[2_000:])
}
