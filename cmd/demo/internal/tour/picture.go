package tour

import (
	"errors"
	"fmt"
	"strings"

	"github.com/slap-go/slap/cmd/demo/internal/shardmap"
)

// legend explains the signs of a picture.
const legend = "● serves it  ◔ opens it  ◕ closes it  · knows another node that has it  ○ knows of none  – no answer"

// picture is what the nodes say of the shards at about one moment.
type picture []view

// view is what one node says; without shards it says nothing.
type view struct {
	name   string
	shards []shardmap.Shard
}

// String is all views on one line.
func (p picture) String() string {
	var line strings.Builder
	for _, v := range p {
		fmt.Fprintf(&line, "%s ", v.name)
		for _, s := range v.shards {
			line.WriteString(sign(s))
		}
		if v.shards == nil {
			line.WriteString(strings.Repeat("–", shards))
		}
		line.WriteString("   ")
	}
	return strings.TrimRight(line.String(), " ")
}

func sign(s shardmap.Shard) string {
	if s.State == "remote" {
		return "·"
	}
	return s.Sign()
}

// owner is the node that says that it serves the shard; empty if none does.
func (p picture) owner(shard int) string {
	for _, v := range p {
		if v.shards != nil && v.shards[shard].State == "running" {
			return v.name
		}
	}
	return ""
}

// shares is which shards each node serves, in the order of the nodes.
func (p picture) shares() [][]int {
	all := make([][]int, len(p))
	for i, v := range p {
		for _, s := range v.shards {
			if s.State == "running" {
				all[i] = append(all[i], s.Shard)
			}
		}
	}
	return all
}

// served is nil once every shard is served.
func (p picture) served() error {
	for shard := range shards {
		if p.owner(shard) == "" {
			return fmt.Errorf("nobody serves shard %d", shard)
		}
	}
	return nil
}

// settled is nil once every shard is served, the nodes that answer agree on by whom, and
// their shares differ by one at most.
func (p picture) settled() error {
	if err := p.served(); err != nil {
		return err
	}
	for _, v := range p {
		for _, s := range v.shards {
			if owner := p.owner(s.Shard); s.Owner != owner || (s.State != "running" && s.State != "remote") {
				return fmt.Errorf("node %s takes shard %d for %s of %q, not of %s", v.name, s.Shard, s.State, s.Owner, owner)
			}
		}
	}
	return p.even()
}

func (p picture) even() error {
	least, most := shards, 0
	for i, share := range p.shares() {
		if p[i].shards != nil {
			least, most = min(least, len(share)), max(most, len(share))
		}
	}
	if most-least > 1 {
		return errors.New("the shares are not even")
	}
	return nil
}

// answers is nil once so many nodes answer.
func (p picture) answers(nodes int) error {
	for _, v := range p {
		if v.shards != nil {
			nodes--
		}
	}
	if nodes != 0 {
		return errors.New("not every node answers")
	}
	return nil
}

// holdings says who has which shards.
func (p picture) holdings() string {
	var all []string
	for i, v := range p {
		if v.shards != nil {
			all = append(all, fmt.Sprintf("%s has %s", v.name, numbers(p.shares()[i])))
		}
	}
	return strings.Join(all, ", ")
}

// holding is the shards that a node has.
func (p picture) holding(name string) string {
	for i, v := range p {
		if v.name == name {
			return numbers(p.shares()[i])
		}
	}
	return ""
}

func numbers(list []int) string { return strings.Trim(fmt.Sprint(list), "[]") }
