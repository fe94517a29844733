package actors

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/slap-go/slap/messages"
)

// CheckShard refuses a request to a shard that a cluster of so many does not have.
func CheckShard(shard int, target string, shards int) error {
	if shard >= 0 && shard < shards {
		return nil
	}
	return messages.NotExecuted(shard, target, messages.ErrInvalid,
		fmt.Errorf("there is no shard %d: shards are 0 to %d", shard, shards-1))
}

// CheckMessage refuses a request without a message.
func CheckMessage(shard int, target string, message proto.Message) error {
	if present(message) {
		return nil
	}
	return messages.NotExecuted(shard, target, messages.ErrInvalid, errNoMessage)
}

// present says whether there is a message, also for one that panics when it is asked.
func present(message proto.Message) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	return message != nil && message.ProtoReflect().IsValid()
}

var errNoMessage = errors.New("the message is nil")
