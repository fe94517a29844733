package links

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/slap-go/slap/messages"
)

// MaxMessage is how large a message to another node may be, in bytes.
const MaxMessage = 16 << 20

// maxTarget is how long the name of a child or handler may be, in bytes.
const maxTarget = 64 << 10

// errNoMessage is what is wrong with a message that is nil.
var errNoMessage = errors.New("the message is nil")

// pack turns a message into its type and bytes. The kind of an error is [messages.ErrTooLarge],
// [messages.ErrInvalid] or, for one of a type of its own, [messages.ErrUnknownType].
func pack(m proto.Message) (name string, payload []byte, kind, cause error) {
	defer func() {
		if v := recover(); v != nil {
			kind, cause = messages.ErrInvalid, fmt.Errorf("the message panics when it is encoded: %v", v)
		}
	}()
	if m == nil || !m.ProtoReflect().IsValid() {
		return "", nil, messages.ErrInvalid, errNoMessage
	}
	if size := proto.Size(m); size > MaxMessage {
		return "", nil, messages.ErrTooLarge, tooLarge(size)
	}
	payload, err := proto.Marshal(m)
	if err != nil {
		return "", nil, messages.ErrInvalid, err
	}
	name = string(m.ProtoReflect().Descriptor().FullName())
	if name == "" {
		return "", nil, messages.ErrUnknownType, errors.New("its type has no name")
	}
	return name, payload, nil, nil
}

func tooLarge(size int) error {
	return fmt.Errorf("it has %d bytes, and between nodes %d are allowed", size, MaxMessage)
}

// checkTarget refuses a name that no piece could carry: it would end the connection, with
// the requests of others.
func checkTarget(name string) error {
	switch {
	case len(name) > maxTarget:
		return fmt.Errorf("the name of its child or handler has %d bytes, and between nodes %d are allowed", len(name), maxTarget)
	case !utf8.ValidString(name):
		return errors.New("the name of its child or handler is no valid UTF-8")
	}
	return nil
}

// unpack is the message of a type with these bytes.
func unpack(name string, payload []byte) (m proto.Message, kind, cause error) {
	defer func() {
		if v := recover(); v != nil {
			m, kind, cause = nil, messages.ErrInvalid, fmt.Errorf("a %s panics when it is decoded: %v", name, v)
		}
	}()
	known, err := protoregistry.GlobalTypes.FindMessageByName(protoreflect.FullName(name))
	if err != nil {
		return nil, messages.ErrUnknownType, fmt.Errorf("%.200q is no message type of this program", name)
	}
	m = known.New().Interface()
	if err := proto.Unmarshal(payload, m); err != nil {
		return nil, messages.ErrInvalid, fmt.Errorf("its bytes are no %s", name)
	}
	return m, nil, nil
}
