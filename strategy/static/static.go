// Package static is the strategy of nodes whose shards are fixed: each node opens
// its own, and nothing moves when one is away.
package static

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/slap-go/slap/strategy"
	"github.com/slap-go/slap/strategy/internal/opener"
	"github.com/slap-go/slap/supervision"
)

// Options of the strategy: exactly one of Nodes and Assignments, the same on all
// nodes. The tags are the keys of a configuration file.
type Options struct {
	// Nodes are the names of all nodes: shard n belongs to number n modulo their count.
	Nodes []string `koanf:"nodes"`

	// Assignments gives each node's name its shards: strategy.Range(0, 31), a list, or
	// in a file the text "0-31, 40". Each shard of the cluster is named exactly once. A
	// node without shards only asks the others.
	Assignments map[string]strategy.Shards `koanf:"assignments"`

	// A shard that cannot open, or goes down, is opened again after BackoffBase,
	// doubling with each failure in a row to at most BackoffMax, plus up to a
	// quarter of it. A shard that was up for BackoffMax begins anew.
	// Defaults: 1 s and 60 s. BackoffBase must not be above BackoffMax, nor that above a year.
	BackoffBase time.Duration `koanf:"backoff_base"`
	BackoffMax  time.Duration `koanf:"backoff_max"`

	// MaxConcurrency is how many shards open at a time. Default: 16.
	MaxConcurrency int `koanf:"max_concurrency"`
}

// Static opens this node's shards and knows whose the others are. A value serves one
// cluster at a time.
type Static struct {
	nodes       []string // all names, those of Assignments sorted
	assignments map[string]strategy.Shards
	owners      map[int]string // by Assignments; nil with Nodes
	opener      *opener.Opener
}

// New makes the strategy; errors name the option.
func New(o Options) (*Static, error) {
	s := &Static{nodes: slices.Clone(o.Nodes)}
	switch {
	case (len(o.Nodes) == 0) == (len(o.Assignments) == 0):
		return nil, errors.New("static strategy: needs Nodes or Assignments: set exactly one of them")
	case len(o.Assignments) > 0:
		s.assign(o.Assignments)
	}
	if err := s.checkNames(); err != nil {
		return nil, err
	}
	opener, err := opener.New("static", opener.Pace{
		BackoffBase: o.BackoffBase, BackoffMax: o.BackoffMax, MaxConcurrency: o.MaxConcurrency,
	})
	if err != nil {
		return nil, err
	}
	s.opener = opener
	return s, nil
}

func (s *Static) assign(assignments map[string]strategy.Shards) {
	s.nodes = slices.Sorted(maps.Keys(assignments))
	s.assignments = map[string]strategy.Shards{}
	s.owners = map[int]string{}
	for node, shards := range assignments {
		s.assignments[node] = slices.Clone(shards)
		for _, n := range shards {
			s.owners[n] = node
		}
	}
}

// option is the field that names the nodes.
func (s *Static) option() string {
	if s.owners != nil {
		return "Assignments"
	}
	return "Nodes"
}

func (s *Static) checkNames() error {
	seen := map[string]bool{}
	for _, name := range s.nodes {
		switch {
		case name == "":
			return fmt.Errorf("static strategy: %s has an empty name: give each node its Name", s.option())
		case seen[name]:
			return fmt.Errorf("static strategy: %s names %q twice", s.option(), name)
		}
		seen[name] = true
	}
	return nil
}

// Validate checks that the node is one of those named and that each shard has
// exactly one owner.
func (s *Static) Validate(c strategy.Cluster) error {
	switch {
	case c.Node == "":
		return fmt.Errorf("static strategy: Name is required: set it to this node's name in %s, one of %q", s.option(), s.nodes)
	case !slices.Contains(s.nodes, c.Node):
		return fmt.Errorf("static strategy: Name %q is not in %s, which has %q", c.Node, s.option(), s.nodes)
	case s.owners != nil:
		return s.checkCover(c.Shards)
	}
	return nil
}

// Others are the other nodes that are named.
func (s *Static) Others(self string) (several bool, named []string) {
	others := slices.DeleteFunc(slices.Clone(s.nodes), func(name string) bool { return name == self })
	return len(others) > 0, others
}

// checkCover checks that Assignments names each shard exactly once.
func (s *Static) checkCover(shards int) error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("static strategy: Assignments must name each shard from 0 to %d exactly once: "+format,
			append([]any{shards - 1}, args...)...)
	}
	seen := map[int]string{}
	for _, node := range s.nodes {
		for _, n := range s.assignments[node] {
			other, twice := seen[n]
			switch {
			case n < 0 || n >= shards:
				return fail("%q has %d", node, n)
			case twice && other == node:
				return fail("%q has %d twice", node, n)
			case twice:
				return fail("%q and %q have %d", other, node, n)
			}
			seen[n] = node
		}
	}
	if missing := s.owned("", shards); len(missing) > 0 {
		return fail("nobody has %v", missing)
	}
	return nil
}

// owned are the node's shards among the cluster's; with an empty name those that
// nobody owns.
func (s *Static) owned(node string, shards int) strategy.Shards {
	list := strategy.Shards{}
	for n := range shards {
		if s.owner(n) == node {
			list = append(list, n)
		}
	}
	return list
}

func (s *Static) owner(shard int) string {
	switch {
	case s.owners != nil:
		return s.owners[shard]
	case shard < 0:
		return ""
	default:
		return s.nodes[shard%len(s.nodes)]
	}
}

// Child is the actor that opens this node's shards. It is ready once each was
// attempted, and fails to start while the value serves another cluster.
func (s *Static) Child(r strategy.Runtime) supervision.ChildSpec {
	return s.opener.Child(r, s.owned(r.Node().Name, r.Shards()))
}

// Lookup gives the owner, alive or not; nobody before the actor has started.
func (s *Static) Lookup(shard int) strategy.Placement {
	owner, here := s.owner(shard), s.opener.Node()
	switch {
	case here == "":
		return strategy.Placement{}
	case owner == here:
		return strategy.Placement{Here: true}
	default:
		return strategy.Placement{Owner: strategy.Node{Name: owner}}
	}
}

// HandleShardDown lets the actor reopen the shard after a while, unless it was
// stopped by hand.
func (s *Static) HandleShardDown(shard int, reason strategy.DownReason) {
	s.opener.HandleShardDown(shard, reason)
}
