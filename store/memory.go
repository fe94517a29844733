package store

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/slap-go/slap/internal/clock"
)

// Space is the identity of one in-memory store and holds its objects. The zero
// value is empty and ready. It is safe for concurrent use and must not be copied.
type Space struct {
	mu      sync.Mutex
	objects map[string]memoryObject
	writes  uint64 // makes every version unlike all others, across keys and deletions
}

type memoryObject struct {
	data  []byte
	entry Entry
}

// memoryBucket is a [Bucket] on a [Space]. All buckets of a space share its objects.
type memoryBucket struct {
	space  *Space
	closed atomic.Bool
}

var _ Bucket = (*memoryBucket)(nil)

func newMemoryBucket(space *Space) *memoryBucket { return &memoryBucket{space: space} }

func (b *memoryBucket) Get(ctx context.Context, key string) (Object, error) {
	if err := b.check(ctx, key); err != nil {
		return Object{}, err
	}
	b.space.mu.Lock()
	defer b.space.mu.Unlock()
	o, ok := b.space.objects[key]
	if !ok {
		return Object{}, ErrNotFound
	}
	return Object{Data: bytes.Clone(o.data), Version: o.entry.Version}, nil
}

func (b *memoryBucket) Put(ctx context.Context, key string, data []byte, c Condition) (Version, error) {
	if err := b.check(ctx, key); err != nil {
		return "", err
	}
	data = append([]byte{}, data...)
	b.space.mu.Lock()
	defer b.space.mu.Unlock()
	return b.space.put(key, data, c)
}

func (s *Space) put(key string, data []byte, c Condition) (Version, error) {
	if o, exists := s.objects[key]; !c.Holds(exists, o.entry.Version) {
		return "", ErrConflict
	}
	if s.objects == nil {
		s.objects = make(map[string]memoryObject)
	}
	s.writes++
	v := Version(strconv.FormatUint(s.writes, 10))
	s.objects[key] = memoryObject{data: data, entry: Entry{Key: key, Version: v, Modified: clock.Now()}}
	return v, nil
}

func (b *memoryBucket) Delete(ctx context.Context, key string) error {
	if err := b.check(ctx, key); err != nil {
		return err
	}
	b.space.mu.Lock()
	defer b.space.mu.Unlock()
	delete(b.space.objects, key)
	return nil
}

func (b *memoryBucket) List(ctx context.Context, prefix string) ([]Entry, error) {
	if err := b.usable(ctx); err != nil {
		return nil, err
	}
	entries := b.space.entries(prefix)
	slices.SortFunc(entries, byKey)
	return entries, nil
}

func (s *Space) entries(prefix string) []Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	var entries []Entry
	for key, o := range s.objects {
		if strings.HasPrefix(key, prefix) {
			entries = append(entries, o.entry)
		}
	}
	return entries
}

func (b *memoryBucket) Close() error {
	b.closed.Store(true)
	return nil
}

func (b *memoryBucket) check(ctx context.Context, key string) error {
	if err := b.usable(ctx); err != nil {
		return err
	}
	return CheckKey(key)
}

func (b *memoryBucket) usable(ctx context.Context) error {
	if b.closed.Load() {
		return ErrClosed
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

func byKey(a, b Entry) int { return cmp.Compare(a.Key, b.Key) }
