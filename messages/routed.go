package messages

import (
	"time"

	"google.golang.org/protobuf/proto"
)

// Ask is sent by an actor to its node's router to send a request to a child of a shard,
// here or elsewhere, without waiting. An [Answered] comes back.
type Ask struct {
	Shard   int
	Child   string
	Message proto.Message
	Tag     any           // comes back with the answer
	Timeout time.Duration // default: the cluster's CallTimeout
}

// Call is [Ask] for a handler.
type Call struct {
	Shard   int
	Handler string
	Message proto.Message
	Tag     any
	Timeout time.Duration
}

// Answered is how a request that went through the router ended.
type Answered struct {
	Tag     any           // as given with the request
	Message proto.Message // nil with an error
	Err     error         // an [*AppError] or a [*RequestError]
}
