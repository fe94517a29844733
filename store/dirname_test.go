package store

import (
	"strings"
	"testing"
)

func FuzzFolderName(f *testing.F) {
	for _, key := range []string{"a", "A", "a/b", "a+b", "!a", "%41", "~", "é", ".x", strings.Repeat("Z/", 250), "x" + strings.Repeat("Y", 199)} {
		f.Add(key, strings.ToLower(key))
	}
	f.Fuzz(func(t *testing.T, key, other string) {
		if CheckKey(key) != nil {
			if got, ok := keyOfName(key); ok && folderName(got) != key {
				t.Fatalf("name %q is taken for key %q", key, got)
			}
			return
		}
		name := folderName(key)
		if name == "" || len(name) > maxFolderName || strings.ContainsAny(name, `/\#:*?"<>|`) || name != strings.ToLower(name) {
			t.Fatalf("key %q has the name %q", key, name)
		}
		got, ok := keyOfName(name)
		if ok == cutName(name) || ok && got != key {
			t.Fatalf("key %q has the name %q of key %q", key, name, got)
		}
		if key != other && CheckKey(other) == nil && folderName(other) == name {
			t.Fatalf("keys %q and %q have the same name %q", key, other, name)
		}
	})
}
