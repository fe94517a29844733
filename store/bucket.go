package store

import (
	"context"
	"errors"
	"time"
)

// Errors of a [Bucket]. Test for them with [errors.Is].
var (
	// ErrNotFound says that the key has no object.
	ErrNotFound = errors.New("object not found")

	// ErrConflict says that the condition of a Put did not hold, so that nothing
	// was written: the object exists (IfAbsent), is missing or has another
	// version (IfMatch).
	ErrConflict = errors.New("condition not met")

	// ErrUnknownOutcome says that a write may or may not have been applied: the
	// reply was lost, or a retry met a conflict that its own first try may have
	// caused. Read the object back to find out.
	ErrUnknownOutcome = errors.New("outcome of the write is unknown")

	// ErrDamaged says that what the object held is lost, as a power loss may leave a
	// local directory. Get gives the version all the same, so that it can be replaced.
	ErrDamaged = errors.New("object is damaged")

	// ErrInvalidKey says that a key cannot name an object.
	ErrInvalidKey = errors.New("invalid key")

	// ErrClosed says that the bucket was used after its Close.
	ErrClosed = errors.New("bucket is closed")
)

// Version identifies one state of one object (an ETag on S3). It is opaque and
// compared only for equality. Equal bytes may have equal versions, so a record
// whose every write must be told apart carries a nonce.
type Version string

// Object is what a key holds.
type Object struct {
	Data    []byte
	Version Version
}

// Entry is one line of a listing.
type Entry struct {
	Key      string
	Version  Version
	Modified time.Time // the store's clock; for people, never compared between nodes
}

// Condition guards a Put. The zero value overwrites.
type Condition struct {
	kind    conditionKind
	version Version
}

type conditionKind uint8

const (
	overwrite conditionKind = iota
	ifAbsent
	ifMatch
)

// Overwrite writes whatever the key holds.
func Overwrite() Condition { return Condition{} }

// IfAbsent writes only if the key has no object.
func IfAbsent() Condition { return Condition{kind: ifAbsent} }

// IfMatch writes only if the key's object has exactly this version. An empty
// version is never held, so the write is refused with [ErrConflict].
func IfMatch(v Version) Condition { return Condition{kind: ifMatch, version: v} }

// Holds tells whether the condition allows a write to a key in the given state.
func (c Condition) Holds(exists bool, current Version) bool {
	switch c.kind {
	case ifAbsent:
		return !exists
	case ifMatch:
		return exists && c.version != "" && c.version == current
	default:
		return true
	}
}

// Absent tells whether this is the condition of [IfAbsent].
func (c Condition) Absent() bool { return c.kind == ifAbsent }

// Match is the version that [IfMatch] asks for; ok is false for another condition.
func (c Condition) Match() (v Version, ok bool) { return c.version, c.kind == ifMatch }

// Bucket is a small key-value store with conditional writes: all that leases,
// the cluster's identity and the start-up probe need of an object store.
//
// Keys are slash-separated, relative, without empty, "." or ".." segments, as
// [CheckKey] says; one key may not be a folder of another, which not every store
// refuses. A Bucket is safe for concurrent use. A
// read sees every write that ended before it began. Every method honours its
// context; without a deadline it is bounded by the store's request timeout.
type Bucket interface {
	// Get returns the object, or [ErrNotFound], or [ErrDamaged].
	Get(ctx context.Context, key string) (Object, error)

	// Put writes the object if the condition holds and returns its version. It
	// fails with [ErrConflict] if nothing was written because of the condition,
	// with [ErrUnknownOutcome] if it may have been written, and with any other
	// error if it certainly was not.
	Put(ctx context.Context, key string, data []byte, c Condition) (Version, error)

	// Delete removes the object. A key without an object is no error. After an
	// error it may or may not be gone.
	Delete(ctx context.Context, key string) error

	// List returns the entries of all keys that start with prefix, in key order.
	// It is not a snapshot: each line was true at some moment during the call.
	List(ctx context.Context, prefix string) ([]Entry, error)

	// Close ends what the bucket runs in the background. It is idempotent. Later
	// calls of other methods fail with [ErrClosed]; those in progress may.
	Close() error
}
