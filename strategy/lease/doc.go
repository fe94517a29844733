// Package lease decides by leases which node serves which shard.
package lease
