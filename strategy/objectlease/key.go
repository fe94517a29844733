package objectlease

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/slap-go/slap/store"
)

// maxShards is how many shards six digits can name; no cluster has more.
const maxShards = 1_000_000

// place is the folder of the records, without a slash at its end.
type place string

func placeIn(path string) place { return place(store.JoinKey(path, "_cluster/placement")) }

func (p place) folder() string          { return string(p) + "/" }
func (p place) shards() string          { return string(p) + "/shards/" }
func (p place) nodes() string           { return string(p) + "/nodes/" }
func (p place) shard(n int) string      { return p.shards() + shardName(n) }
func (p place) node(name string) string { return p.nodes() + name }
func (p place) check() string           { return string(p) + "/check" }
func shardName(n int) string            { return fmt.Sprintf("%06d", n) }
func (p place) nodeOf(key string) (string, bool) {
	name, ok := strings.CutPrefix(key, p.nodes())
	return name, ok && name != "" && !strings.Contains(name, "/")
}

// shardOf is the shard whose lease is at the key. Keys that no shard has, such as one
// with seven digits, are not ours.
func (p place) shardOf(key string) (int, bool) {
	name, ok := strings.CutPrefix(key, p.shards())
	n, err := strconv.Atoi(name)
	return n, ok && err == nil && n >= 0 && n < maxShards && shardName(n) == name
}
