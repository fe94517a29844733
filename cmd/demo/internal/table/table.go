// Package table is a part of a shard's database, and how what was found or changed in
// it is answered.
package table

import (
	"context"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/slap-go/slap"
)

// readPatience bounds a read, which waits while the store is away. A write is
// waited for as long as it takes: one that was given up could still be applied,
// after the next.
const readPatience = 10 * time.Second

// Table is what a shard holds under keys that begin with a prefix.
type Table struct {
	shard  *slap.Shard
	prefix string
}

// Of is the part of the shard's database with the prefix.
func Of(shard *slap.Shard, prefix string) Table { return Table{shard, prefix} }

// Get reads a value. It may be one that is not durable yet.
func (t Table) Get(ctx context.Context, key []byte) (value []byte, found bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, readPatience)
	defer cancel()
	return t.shard.DB().Get(ctx, t.row(key), nil)
}

// Put writes a value and returns the write's sequence number.
func (t Table) Put(key, value []byte) (seq uint64, err error) {
	return t.shard.DB().Put(context.Background(), t.row(key), value, nil)
}

// Delete removes a value and returns the write's sequence number.
func (t Table) Delete(key []byte) (seq uint64, err error) {
	return t.shard.DB().Delete(context.Background(), t.row(key))
}

func (t Table) row(key []byte) []byte { return append([]byte(t.prefix), key...) }

// Answer is what a request to a child has come to.
type Answer struct {
	Reply any    // a message, or the [slap.AppError] of a request that is refused
	Seq   uint64 // of the write that the reply tells of; 0 for what was read
	Err   error  // why there is no reply: the caller is told that the outcome is unknown
}

// Respond answers the request in the actor's hands once the answer is true for good: a
// write when it is durable, what was read, a refusal too, when it is confirmed that no
// other node had changed it before.
func (t Table) Respond(ctx actor.Context, a Answer) {
	switch {
	case a.Err != nil:
		ctx.Respond(a.Err)
	case a.Seq > 0:
		t.shard.RespondWhenDurable(ctx, a.Seq, a.Reply)
	default:
		t.shard.RespondWhenConfirmed(ctx, a.Reply)
	}
}
