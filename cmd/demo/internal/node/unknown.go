package node

import (
	"flag"
	"fmt"
	"strings"

	"github.com/slap-go/slap/internal/spelling"
)

// unknownKey is the error for a key that is none, with the one that may be meant.
func unknownKey(flags *flag.FlagSet, key string) error {
	if near := nearest(flags, key); near != "" {
		return fmt.Errorf("unknown key %q: did you mean %q?", key, near)
	}
	return fmt.Errorf("unknown key %q: `demo node --help` lists the flags, whose names are the keys", key)
}

// nearest is the key that may be meant, empty if none is near.
func nearest(flags *flag.FlagSet, word string) string {
	var keys []string
	flags.VisitAll(func(f *flag.Flag) {
		if f.Name != "config" {
			keys = append(keys, strings.ReplaceAll(f.Name, "-", "_"))
		}
	})
	return spelling.Nearest(word, keys)
}
