package messages

// Written tells an actor that a write in the asynchronous form has ended.
type Written struct {
	Tag any    // as given to NotifyWritten
	Seq uint64 // 0 if it failed
	Err error
}

// Durable tells an actor that everything up to the sequence number it asked about
// is durable.
type Durable struct {
	Tag any // as given to NotifyWhenDurable
	Seq uint64
}

// NotDurable tells an actor that its shard ended before the sequence number it
// asked about was reported durable. That means unknown: the write may be in the
// store, or reach it when a hanging store comes back.
type NotDurable struct {
	Tag    any
	Seq    uint64
	Reason error
}
