package store

import (
	"crypto/rand"
	"testing"
)

func NewMemoryBucketForTest() Bucket { return newMemoryBucket(new(Space)) }

func NewDirBucketForTest(t *testing.T, path string) Bucket {
	t.Helper()
	b, err := newDirBucket(path, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
