// Package store says where objects live, and gives access to them: a [Store]
// names the place (this process's memory, a local directory or a bucket of an
// S3-compatible server), and its [Bucket] is a small key-value store with the
// conditional writes that leases need.
package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// DefaultRequestTimeout bounds one request to an object store, ours or the engine's.
const DefaultRequestTimeout = 10 * time.Second

// OpenTimeout bounds [Store.Open], which must say what is wrong within ten seconds.
const OpenTimeout = 8 * time.Second

var errNoStore = errors.New("no store is given: make one with store.Memory, store.Dir, store.S3 or store.Parse")

// Kind is the kind of place a [Store] names.
type Kind uint8

// The kinds of stores.
const (
	KindNone   Kind = iota // the zero Store: nowhere
	KindMemory             // this process's memory
	KindDir                // a directory shared by the processes of one machine
	KindS3                 // an S3-compatible object store
)

// Store says where objects live and how to reach them. It is a value: copying it
// or opening it twice reaches the same objects. The zero Store names no place;
// make one with [Memory], [Dir], [S3] or [Parse]. Its String never shows
// credentials.
type Store struct {
	kind   Kind
	dir    string
	s3     S3Options
	memory *Space
}

// Location is what a client that brings its own connections, such as the
// engine, needs to reach the objects of a [Store].
type Location struct {
	Kind Kind

	// Space is the identity of the memory (KindMemory): two stores with the same
	// Space share their objects.
	Space *Space

	// Dir is an absolute path (KindDir). Open creates it.
	Dir string

	// The bucket, and the prefix of every key in it without slashes at its ends (KindS3).
	Bucket, Prefix string
	Region         string
	Endpoint       string // URL of a custom server; empty for AWS
	VirtualHosted  bool   // the bucket is part of the host name, not of the path

	// Credentials is resolved as aws-sdk-go-v2 finds them and refreshes those
	// that expire. It is never nil for KindS3.
	Credentials aws.CredentialsProvider

	// RequestTimeout bounds one request.
	RequestTimeout time.Duration
}

// Memory makes a new, empty store in this process's memory.
func Memory() Store { return Store{kind: KindMemory, memory: &Space{}} }

// Dir names a local directory, created by Open if it is missing. Several
// processes of one machine may use it at once. A write survives any end of the
// process, not a power loss: nothing is synced to disk.
func Dir(path string) Store { return Store{kind: KindDir, dir: path} }

// S3 names a bucket of an S3-compatible store.
func S3(o S3Options) Store { return Store{kind: KindS3, s3: o} }

// IsZero tells whether s is the zero Store, which names no place.
func (s Store) IsZero() bool { return s.kind == KindNone }

// Location resolves how to reach the objects. It reads configuration files and
// the environment but sends no request.
func (s Store) Location(ctx context.Context) (Location, error) {
	switch s.kind {
	case KindMemory:
		return Location{Kind: KindMemory, Space: s.memory}, nil
	case KindDir:
		return s.dirLocation()
	case KindS3:
		at, _, err := s.s3.location(ctx)
		return at, err
	default:
		return Location{}, errNoStore
	}
}

func (s Store) dirLocation() (Location, error) {
	if s.dir == "" {
		return Location{}, errors.New("the store's directory has no path")
	}
	path, err := filepath.Abs(s.dir)
	if err != nil {
		return Location{}, fmt.Errorf("the store's directory %q has no absolute path: %w", s.dir, err)
	}
	return Location{Kind: KindDir, Dir: path}, nil
}

// Open checks that the place exists and can be used, and returns its Bucket. It
// waits at most [OpenTimeout] for a server.
func (s Store) Open(ctx context.Context) (Bucket, error) {
	switch s.kind {
	case KindMemory:
		return newMemoryBucket(s.memory), nil
	case KindDir:
		return s.openDir()
	case KindS3:
		return openS3(ctx, s.s3)
	default:
		return nil, errNoStore
	}
}

func (s Store) openDir() (Bucket, error) {
	at, err := s.dirLocation()
	if err != nil {
		return nil, err
	}
	b, err := newDirBucket(at.Dir, rand.Reader)
	if err != nil {
		return nil, err
	}
	return b, nil
}

// String is the store as a URL that [Parse] reads, without credentials.
func (s Store) String() string {
	switch s.kind {
	case KindMemory:
		return "memory:///"
	case KindDir:
		at, err := s.dirLocation()
		if err != nil {
			return "file:///"
		}
		return (&url.URL{Scheme: "file", Path: at.Dir}).String()
	case KindS3:
		return s.s3.url()
	default:
		return ""
	}
}
