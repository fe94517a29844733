// Package objectlease is the strategy of nodes that share a bucket and need nothing else:
// leases and heartbeats are objects, written under the condition that nobody else wrote
// meanwhile. It works on S3-compatible stores, on a directory shared by the processes of
// one machine, and in memory.
//
// Under the cluster's path, all of them JSON:
//
//	_cluster/placement/shards/000007   the lease of shard 7
//	_cluster/placement/nodes/NAME      the heartbeat of a node
//	_cluster/placement/check           what the nodes' checks of the store left
package objectlease
