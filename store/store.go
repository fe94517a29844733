package store

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// DefaultRequestTimeout bounds one request to an object store, ours or the engine's.
const DefaultRequestTimeout = 10 * time.Second

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

	// Dir is the absolute path of an existing directory (KindDir).
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

// S3Options says how to reach a bucket of an S3-compatible store.
type S3Options struct {
	Bucket string // required
	Prefix string // put in front of every key

	// Region and Profile override what the AWS environment and configuration
	// files say. A region is required from one of them.
	Region, Profile string

	// Endpoint is the URL of a server other than AWS. Such servers are addressed
	// with the bucket in the path unless VirtualHosted is set.
	Endpoint      string
	VirtualHosted bool

	// Credentials overrides the default chain of aws-sdk-go-v2 (environment,
	// profile, SSO, web identity, container and instance roles).
	Credentials aws.CredentialsProvider

	// RequestTimeout bounds one request, ours or the engine's.
	// Default: [DefaultRequestTimeout].
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

// Location resolves how to reach the objects. It reads configuration files and
// the environment but sends no request.
func (s Store) Location(ctx context.Context) (Location, error) { panic("TODO") }

// Open checks that the place exists and returns its Bucket.
func (s Store) Open(ctx context.Context) (Bucket, error) { panic("TODO") }

// String is the store as a URL that [Parse] reads, without credentials.
func (s Store) String() string { panic("TODO") }
