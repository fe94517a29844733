// Package shardmap is the picture of a cluster's shards that a node shows.
package shardmap

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Map is every shard as one node sees it; the JSON of GET /shards.
type Map struct {
	Cluster string  `json:"cluster"`
	Node    string  `json:"node"`
	Shards  []Shard `json:"shards"`

	Unreachable []string `json:"unreachable,omitempty"` // nodes that this one needs and cannot reach
}

// Shard is one shard of a [Map].
type Shard struct {
	Shard      int    `json:"shard"`
	Owner      string `json:"owner"` // empty when no node owns it
	State      string `json:"state"` // running, opening, closing, remote or unassigned
	Generation uint64 `json:"generation"`
	Error      string `json:"error,omitempty"` // why it is not open here, after an open that failed
}

// Legend explains the signs.
const Legend = "○ unassigned  ◔ opening  ● running  ◕ closing  → remote"

// Sign tells the states apart without their colour.
func (s Shard) Sign() string {
	switch s.State {
	case "running":
		return "●"
	case "opening":
		return "◔"
	case "closing":
		return "◕"
	case "remote":
		return "→"
	default:
		return "○"
	}
}

// columns is how many shards a row of the drawing has.
const columns = 8

// Draw draws each shard in a place of its own, with its owner, and says why shards are
// not open.
func (m Map) Draw(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	for i, s := range m.Shards {
		if i > 0 && i%columns == 0 {
			fmt.Fprintln(table)
		}
		fmt.Fprintf(table, "%4d %s %s\t", s.Shard, s.Sign(), s.Owner)
	}
	fmt.Fprintln(table)
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w, Legend)
	for _, s := range m.Shards {
		if s.Error != "" {
			fmt.Fprintf(w, "shard %d: %s\n", s.Shard, s.Error)
		}
	}
	if len(m.Unreachable) > 0 {
		fmt.Fprintf(w, "cannot be reached from here: %s\n", strings.Join(m.Unreachable, ", "))
	}
	return nil
}
