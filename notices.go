package slap

import "github.com/slap-go/slap/messages"

// Durable tells an actor that everything up to the sequence number it asked about, by
// [Shard.NotifyWhenDurable], is durable.
type Durable = messages.Durable

// NotDurable tells an actor that its shard ended before the sequence number it asked
// about was reported durable: unknown.
type NotDurable = messages.NotDurable

// Written tells an actor that a write in the asynchronous form, with
// [Shard.NotifyWritten], has ended.
type Written = messages.Written
