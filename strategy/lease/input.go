package lease

import (
	"github.com/slap-go/slap/strategy"
)

// What happens to a core.
type (
	// due is the moment that it asked to be woken at.
	due struct{}

	setUp struct{ err error }

	beatRead struct {
		node string
		beat Beat
		err  error
	}
	beatWritten struct {
		nonce   string
		version Version
		err     error
	}
	listed struct {
		listing Listing
		err     error
	}
	leaseRead struct {
		shard int
		lease Lease
		err   error
	}
	leaseWritten struct {
		shard   int
		nonce   string
		version Version
		err     error
	}
	greeted struct {
		node strategy.Node
		err  error
	}

	// From the runner. Of an open that a close came after, only closed tells.
	opened struct {
		shard int
		err   error
	}
	closed struct {
		shard int
	}
	down struct {
		shard  int
		reason strategy.DownReason
	}
	expired struct{ shards []int }

	// look is a hint of another node.
	look struct{}

	// refresh asks to read the shard's lease.
	refresh struct{ shard int }

	leave struct{}
)
