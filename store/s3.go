package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// s3Bucket is a [Bucket] in an S3-compatible store. Its goroutines are those of
// idle connections.
type s3Bucket struct {
	at        Location
	client    *s3.Client
	transport *http.Transport
	random    func() float64 // in [0, 1), for pauses

	life context.Context // ends with Close, by ErrClosed
	end  context.CancelCauseFunc
}

var _ Bucket = (*s3Bucket)(nil)

func openS3(ctx context.Context, o S3Options) (Bucket, error) {
	ctx, cancel := context.WithTimeout(ctx, min(OpenTimeout, o.timeout()))
	defer cancel()
	at, cfg, err := o.location(ctx)
	if err != nil {
		return nil, err
	}
	b := &s3Bucket{at: at, transport: newTransport(cfg), random: rand.Float64}
	b.client = newS3Client(at, cfg, b.transport)
	b.life, b.end = context.WithCancelCause(context.Background())
	if err := b.check(ctx); err != nil {
		_ = b.Close()
		return nil, err
	}
	return b, nil
}

// check lists one key, which needs a server, credentials, a region and a bucket
// that are right. A server that cannot be reached is reported at once.
func (b *s3Bucket) check(ctx context.Context) error {
	return b.do(ctx, request{hasty: true, try: func(ctx context.Context) error {
		_, err := b.page(ctx, "", nil, 1)
		return err
	}})
}

func (b *s3Bucket) Get(ctx context.Context, key string) (Object, error) {
	if err := CheckKey(key); err != nil {
		return Object{}, err
	}
	var object Object
	err := b.do(ctx, request{try: func(ctx context.Context) (err error) {
		object, err = b.get(ctx, key)
		return err
	}})
	return object, describe("get", key, err)
}

func (b *s3Bucket) get(ctx context.Context, key string) (Object, error) {
	reply, err := b.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.at.Bucket, Key: b.key(key)})
	if err != nil {
		return Object{}, err
	}
	data, err := io.ReadAll(reply.Body)
	if err := errors.Join(err, reply.Body.Close()); err != nil {
		return Object{}, err
	}
	version, err := etagVersion(reply.ETag)
	if err != nil {
		return Object{}, err
	}
	return Object{Data: data, Version: version}, nil
}

func (b *s3Bucket) Put(ctx context.Context, key string, data []byte, c Condition) (Version, error) {
	if err := CheckKey(key); err != nil {
		return "", err
	}
	if v, match := c.Match(); match && !isETag(v) {
		return "", ErrConflict
	}
	// A request that was given up may be read from after Put has returned.
	data = bytes.Clone(data)
	var version Version
	err := b.do(ctx, request{write: true, condition: c, try: func(ctx context.Context) (err error) {
		version, err = b.put(ctx, key, data, c)
		return err
	}})
	return version, describe("put", key, err)
}

func (b *s3Bucket) put(ctx context.Context, key string, data []byte, c Condition) (Version, error) {
	input := &s3.PutObjectInput{Bucket: &b.at.Bucket, Key: b.key(key), Body: bytes.NewReader(data)}
	if c.Absent() {
		input.IfNoneMatch = aws.String("*")
	}
	if v, match := c.Match(); match {
		input.IfMatch = aws.String(`"` + string(v) + `"`)
	}
	reply, err := b.client.PutObject(ctx, input)
	if err != nil {
		return "", err
	}
	return etagVersion(reply.ETag)
}

func (b *s3Bucket) Delete(ctx context.Context, key string) error {
	if err := CheckKey(key); err != nil {
		return err
	}
	err := b.do(ctx, request{write: true, try: func(ctx context.Context) error {
		_, err := b.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.at.Bucket, Key: b.key(key)})
		if err != nil && judge(err, true, Overwrite()) == missing {
			return nil
		}
		return err
	}})
	return describe("delete", key, err)
}

func (b *s3Bucket) List(ctx context.Context, prefix string) ([]Entry, error) {
	ctx, cancel := b.bound(ctx)
	defer cancel()
	var entries []Entry
	var token *string
	for {
		var page *s3.ListObjectsV2Output
		err := b.do(ctx, request{try: func(ctx context.Context) (err error) {
			page, err = b.page(ctx, prefix, token, 0)
			return err
		}})
		if err != nil {
			return nil, describe("list", prefix, err)
		}
		entries = b.appendEntries(entries, page.Contents)
		if !aws.ToBool(page.IsTruncated) {
			return inOrder(entries), nil
		}
		token = page.NextContinuationToken
	}
}

// page asks for one part of a listing; a limit of 0 leaves its size to the server.
func (b *s3Bucket) page(ctx context.Context, prefix string, token *string, limit int32) (*s3.ListObjectsV2Output, error) {
	input := &s3.ListObjectsV2Input{Bucket: &b.at.Bucket, Prefix: b.key(prefix), ContinuationToken: token}
	if limit > 0 {
		input.MaxKeys = &limit
	}
	page, err := b.client.ListObjectsV2(ctx, input)
	if err != nil {
		return nil, err
	}
	// A body that is empty or about something else would pass for an empty list.
	if page.Name == nil || aws.ToBool(page.IsTruncated) && aws.ToString(page.NextContinuationToken) == "" {
		return nil, errMalformed
	}
	return page, nil
}

// appendEntries leaves out what is no key of a Bucket, such as the folder
// objects that consoles create.
func (b *s3Bucket) appendEntries(entries []Entry, objects []types.Object) []Entry {
	for _, o := range objects {
		key, ours := strings.CutPrefix(aws.ToString(o.Key), *b.key(""))
		version, err := etagVersion(o.ETag)
		if !ours || err != nil || CheckKey(key) != nil {
			continue
		}
		entries = append(entries, Entry{Key: key, Version: version, Modified: aws.ToTime(o.LastModified)})
	}
	return entries
}

// inOrder sorts a listing, which not every server does, and drops what it shows
// twice.
func inOrder(entries []Entry) []Entry {
	slices.SortStableFunc(entries, func(a, b Entry) int { return strings.Compare(a.Key, b.Key) })
	return slices.CompactFunc(entries, func(a, b Entry) bool { return a.Key == b.Key })
}

// Close ends the requests in flight and the idle connections.
func (b *s3Bucket) Close() error {
	b.end(ErrClosed)
	b.transport.CloseIdleConnections()
	return nil
}

// key is the object's name in the bucket.
func (b *s3Bucket) key(key string) *string {
	if b.at.Prefix != "" {
		key = b.at.Prefix + "/" + key
	}
	return &key
}

// etagVersion takes an ETag without its quotes, which not every reply has.
func etagVersion(etag *string) (Version, error) {
	version := strings.Trim(aws.ToString(etag), `"`)
	if version == "" {
		return "", errMalformed
	}
	return Version(version), nil
}

// isETag tells whether a header can hold the version; no object has another.
func isETag(v Version) bool {
	return v != "" && !strings.ContainsFunc(string(v), func(r rune) bool { return r < ' ' || r > '~' || r == '"' })
}

// describe puts the call in front of an error that is no plain answer.
func describe(op, key string, err error) error {
	if err == nil || errors.Is(err, ErrNotFound) || errors.Is(err, ErrConflict) || errors.Is(err, ErrClosed) {
		return err
	}
	return fmt.Errorf("%s %q: %w", op, key, err)
}
