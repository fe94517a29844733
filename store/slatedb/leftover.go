package slatedb

import (
	"fmt"
	"strings"
	"sync/atomic"
)

// A census is how many objects of each kind are open in an object store.
type census [len(objectNames)]atomic.Int64

// owned are the kinds that a caller closes, in the order in which they are named.
var owned = [...]struct {
	kind      objectKind
	one, many string
}{
	{objectDB, "database", "databases"},
	{objectReader, "reader", "readers"},
	{objectAdmin, "admin", "admins"},
	{objectSnapshot, "snapshot", "snapshots"},
	{objectTransaction, "transaction", "transactions"},
	{objectIterator, "iterator", "iterators"},
}

// leftover says what keeps an object store from its end, and what to do.
func leftover(open *census, abandoned int) string {
	var parts []string
	var all int64
	for _, k := range owned {
		if n := open[k.kind].Load(); n > 0 {
			all += n
			parts = append(parts, count(n, k.one, k.many))
		}
	}
	opened := fmt.Sprintf("%s %s still open: close %s first",
		strings.Join(parts, ", "), choose(all, "is", "are"), choose(all, "it", "them"))
	going := count(int64(abandoned), "abandoned operation goes on", "abandoned operations go on")
	switch {
	case all > 0 && abandoned > 0:
		return opened + " (" + going + ")"
	case all > 0:
		return opened
	case abandoned > 0:
		return going
	default:
		return "its last operations go on"
	}
}

func count(n int64, one, many string) string { return fmt.Sprintf("%d %s", n, choose(n, one, many)) }

func choose(n int64, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
