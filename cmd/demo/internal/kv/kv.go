// Package kv is the shard child that keeps values under keys, each with an ETag.
package kv

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/asynkron/protoactor-go/actor"
	"google.golang.org/protobuf/proto"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/cmd/demo/demopb"
	"github.com/slap-go/slap/cmd/demo/internal/table"
)

// Child is the name under which a shard has this child.
const Child = "kv"

// Codes of the [slap.AppError] of a request that is refused. Nothing was written.
const (
	NotFound           = "not_found"           // the key has no value
	PreconditionFailed = "precondition_failed" // what the write asked for does not hold
)

// prefix separates the values from what else the shard's database holds.
const prefix = "k/"

// Spec is the child as a shard starts it.
func Spec(shard *slap.Shard) slap.ChildSpec {
	return slap.ChildSpec{Name: Child, New: func() actor.Actor { return &values{table.Of(shard, prefix)} }}
}

// values is the one writer of its shard's values. Between a precondition's check
// and the write nothing else runs.
type values struct{ table table.Table }

// Receive answers reads and conditional writes.
func (v *values) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *demopb.Get:
		v.table.Respond(ctx, v.get(m))
	case *demopb.Put:
		v.table.Respond(ctx, v.put(m))
	case *demopb.Delete:
		v.table.Respond(ctx, v.remove(m))
	}
}

func (v *values) get(m *demopb.Get) table.Answer {
	entry, err := v.load(m.GetKey())
	if err == nil && entry == nil {
		return table.Answer{Reply: &slap.AppError{Code: NotFound, Message: "the key has no value"}}
	}
	return table.Answer{Reply: entry, Err: err}
}

func (v *values) put(m *demopb.Put) table.Answer {
	current, err := v.load(m.GetKey())
	if err != nil {
		return table.Answer{Err: err}
	}
	if !holds(m.GetWhen(), current) {
		return refused()
	}
	entry := &demopb.Entry{Etag: newETag(), Value: m.GetValue()}
	data, err := proto.Marshal(entry)
	if err != nil {
		return table.Answer{Err: fmt.Errorf("the value cannot be stored: %w", err)}
	}
	seq, err := v.table.Put(m.GetKey(), data)
	return table.Answer{Reply: &demopb.PutDone{Etag: entry.GetEtag()}, Seq: seq, Err: err}
}

func (v *values) remove(m *demopb.Delete) table.Answer {
	current, err := v.load(m.GetKey())
	switch {
	case err != nil:
		return table.Answer{Err: err}
	case !holds(m.GetWhen(), current):
		return refused()
	case current == nil:
		return table.Answer{Reply: &demopb.DeleteDone{}}
	}
	seq, err := v.table.Delete(m.GetKey())
	return table.Answer{Reply: &demopb.DeleteDone{}, Seq: seq, Err: err}
}

func refused() table.Answer {
	return table.Answer{Reply: &slap.AppError{
		Code: PreconditionFailed, Message: "the precondition does not hold: nothing was written",
	}}
}

// load is nil when the key has no value.
func (v *values) load(key []byte) (*demopb.Entry, error) {
	data, found, err := v.table.Get(context.Background(), key)
	if err != nil || !found {
		return nil, err
	}
	entry := &demopb.Entry{}
	if err := proto.Unmarshal(data, entry); err != nil {
		return nil, fmt.Errorf("a stored value cannot be read: %w", err)
	}
	return entry, nil
}

// newETag is random, so that no two writes ever share one: not of one key, not
// across a DELETE, not across a restart.
func newETag() string { return rand.Text() }
