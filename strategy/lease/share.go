package lease

import (
	"cmp"
	"slices"
)

// holder is a live node and how many shards it holds that it is not giving up.
type holder struct {
	name string
	held int
}

// quota is how many of the shards are a node's: each live node has the same number, and
// what is left over goes to those that hold the most, so that as little as possible moves.
// While anybody holds more than the largest share, who gets what is left over is not
// settled: then nobody gives up, or takes, on account of it.
func quota(shards int, live []holder, name string) int {
	slices.SortFunc(live, func(a, b holder) int {
		return cmp.Or(cmp.Compare(b.held, a.held), cmp.Compare(a.name, b.name))
	})
	at := slices.IndexFunc(live, func(h holder) bool { return h.name == name })
	share, left := shards/len(live), shards%len(live)
	switch {
	case left == 0:
		return share
	case live[0].held > share+1:
		return share + min(max(live[at].held-share, 0), 1)
	case at < left:
		return share + 1
	}
	return share
}
