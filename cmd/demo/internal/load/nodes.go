package load

import (
	"sync/atomic"
	"time"

	"github.com/slap-go/slap/cmd/demo/internal/client"
)

// absence is how long a node at which nobody answered is left out while others answer.
const absence = time.Second

// node is where requests go.
type node struct {
	*client.Client

	address string
	absent  atomic.Pointer[time.Time] // since when nobody answers; nil while somebody does
}

// note keeps in mind whether somebody answers.
func (n *node) note(err error, now time.Time) {
	if client.Unreachable(err) {
		n.absent.Store(&now)
	} else if n.absent.Load() != nil {
		n.absent.Store(nil)
	}
}

// leftOut says whether the node is not worth a try now.
func (n *node) leftOut(now time.Time) bool {
	since := n.absent.Load()
	return since != nil && now.Sub(*since) < absence
}

// nodes are all that requests may go to.
type nodes []*node

func dial(addresses []string, connections int) nodes {
	var all nodes
	for _, address := range addresses {
		all = append(all, &node{Client: client.New(address, connections), address: address})
	}
	return all
}

// next is the node whose turn it is, or one after it that is worth a try.
func (all nodes) next(turn int, now time.Time) *node {
	for i := range all {
		if n := all[(turn+i)%len(all)]; !n.leftOut(now) {
			return n
		}
	}
	return all[turn%len(all)]
}

// gone says whether nobody answers at any address.
func (all nodes) gone() bool {
	for _, n := range all {
		if n.absent.Load() == nil {
			return false
		}
	}
	return true
}

// Absent is the addresses at which nobody answered last.
func (l *Load) Absent() []string {
	var addresses []string
	for _, n := range l.nodes {
		if n.absent.Load() != nil {
			addresses = append(addresses, n.address)
		}
	}
	return addresses
}
