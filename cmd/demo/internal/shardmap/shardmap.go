// Package shardmap is the picture of a cluster's shards that a node shows.
package shardmap

// Map is every shard as one node sees it; the JSON of GET /shards.
type Map struct {
	Cluster string  `json:"cluster"`
	Node    string  `json:"node"`
	Shards  []Shard `json:"shards"`
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
