// Package kv is the shard child that keeps values under keys, each with an ETag.
package kv

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"google.golang.org/protobuf/proto"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/cmd/demo/demopb"
)

// Child is the name under which a shard has this child.
const Child = "kv"

// prefix separates the values from what else the shard's database holds.
const prefix = "k/"

// Spec is the child as a shard starts it.
func Spec(shard *slap.Shard) slap.ChildSpec {
	return slap.ChildSpec{Name: Child, New: func() actor.Actor { return &values{shard: shard} }}
}

// values is the one writer of its shard's values. Between a precondition's check
// and the write nothing else runs.
type values struct{ shard *slap.Shard }

// readPatience bounds a read, which waits while the store is away. A write is
// waited for as long as it takes: one that was given up could still be applied,
// after the next.
const readPatience = 10 * time.Second

// Receive answers reads and conditional writes. Every answer, also a refusal,
// waits until what it is based on is durable.
func (v *values) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *demopb.Get:
		v.get(ctx, m)
	case *demopb.Put:
		v.put(ctx, m)
	case *demopb.Delete:
		v.remove(ctx, m)
	}
}

func (v *values) get(ctx actor.Context, m *demopb.Get) {
	entry, err := v.load(m.GetKey())
	if err != nil {
		ctx.Respond(err)
		return
	}
	v.respondRead(ctx, &demopb.Got{Entry: entry})
}

func (v *values) put(ctx actor.Context, m *demopb.Put) {
	current, err := v.load(m.GetKey())
	if err != nil {
		ctx.Respond(err)
		return
	}
	if !holds(m.GetWhen(), current) {
		v.respondRead(ctx, &demopb.PutDone{Refused: true})
		return
	}
	entry := &demopb.Entry{Etag: newETag(), Value: m.GetValue()}
	seq, err := v.store(m.GetKey(), entry)
	if err != nil {
		ctx.Respond(err)
		return
	}
	v.shard.RespondWhenDurable(ctx, seq, &demopb.PutDone{Etag: entry.GetEtag()})
}

func (v *values) remove(ctx actor.Context, m *demopb.Delete) {
	current, err := v.load(m.GetKey())
	if err != nil {
		ctx.Respond(err)
		return
	}
	if refused := !holds(m.GetWhen(), current); refused || current == nil {
		v.respondRead(ctx, &demopb.DeleteDone{Refused: refused})
		return
	}
	seq, err := v.shard.DB().Delete(context.Background(), row(m.GetKey()))
	if err != nil {
		ctx.Respond(err)
		return
	}
	v.shard.RespondWhenDurable(ctx, seq, &demopb.DeleteDone{})
}

func (v *values) respondRead(ctx actor.Context, reply proto.Message) {
	v.shard.RespondWhenDurable(ctx, v.shard.WrittenSeq(), reply)
}

// load is nil when the key has no value.
func (v *values) load(key []byte) (*demopb.Entry, error) {
	ctx, cancel := context.WithTimeout(context.Background(), readPatience)
	defer cancel()
	data, found, err := v.shard.DB().Get(ctx, row(key), nil)
	if err != nil || !found {
		return nil, err
	}
	entry := &demopb.Entry{}
	if err := proto.Unmarshal(data, entry); err != nil {
		return nil, fmt.Errorf("a stored value cannot be read: %w", err)
	}
	return entry, nil
}

func (v *values) store(key []byte, entry *demopb.Entry) (uint64, error) {
	data, err := proto.Marshal(entry)
	if err != nil {
		return 0, fmt.Errorf("the value cannot be stored: %w", err)
	}
	return v.shard.DB().Put(context.Background(), row(key), data, nil)
}

func row(key []byte) []byte { return append([]byte(prefix), key...) }

// newETag is random, so that no two writes ever share one: not of one key, not
// across a DELETE, not across a restart.
func newETag() string { return rand.Text() }
