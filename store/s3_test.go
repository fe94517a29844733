package store_test

import (
	"fmt"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/slap-go/slap/internal/s3test"
	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/store/storetest"
)

// static are the credentials of the test server.
var static = credentials.NewStaticCredentialsProvider(s3test.AccessKey, s3test.SecretKey, "")

// open opens a store for the test's duration.
func open(t *testing.T, s store.Store) store.Bucket {
	t.Helper()
	b, err := s.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

// fakeS3 is a server in this process that accepts all credentials, and quick with
// many objects. It has the bucket "bucket".
func fakeS3(t *testing.T) (endpoint string) {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("bucket"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(server.Close)
	return server.URL
}

func at(endpoint, prefix string, c aws.CredentialsProvider) store.Store {
	return store.S3(store.S3Options{
		Bucket: "bucket", Prefix: prefix, Region: s3test.Region, Endpoint: endpoint, Credentials: c,
	})
}

func TestS3Conformance(t *testing.T) {
	t.Parallel()
	server := s3test.Start(t, "bucket")
	var place atomic.Int64
	storetest.Run(t, func(t *testing.T) store.Bucket {
		return open(t, server.Store("bucket", fmt.Sprintf("conformance/%d", place.Add(1))))
	})
}

func TestS3ConformanceWithoutPrefix(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) store.Bucket {
		return open(t, at(fakeS3(t), "", static))
	})
}

func TestS3ListsEveryPageInOrder(t *testing.T) {
	t.Parallel()
	b := open(t, at(fakeS3(t), "place", static))
	var want []string
	for i := range 2100 {
		key := fmt.Sprintf("n/%d", i)
		if _, err := b.Put(t.Context(), key, nil, store.IfAbsent()); err != nil {
			t.Fatal(err)
		}
		want = append(want, key)
	}
	slices.Sort(want)
	entries, err := b.List(t.Context(), "n/")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Key)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("listed %d keys from %q to %q; want %d", len(got), got[0], got[len(got)-1], len(want))
	}
}

// Prefixes are folders: no store sees another one's objects, nor those that a
// console leaves at the folder's own name.
func TestS3PrefixesAreApart(t *testing.T) {
	t.Parallel()
	server := s3test.Start(t, "bucket")
	root, place, neighbour := open(t, server.Store("bucket", "")), open(t, server.Store("bucket", "/place/")), open(t, server.Store("bucket", "place2"))
	for _, b := range []store.Bucket{place, neighbour} {
		if _, err := b.Put(t.Context(), "key", []byte("x"), store.IfAbsent()); err != nil {
			t.Fatal(err)
		}
	}
	if entries, err := place.List(t.Context(), ""); err != nil || len(entries) != 1 || entries[0].Key != "key" {
		t.Fatalf("listed %v, %v; want one key", entries, err)
	}
	if _, err := root.Get(t.Context(), "place/key"); err != nil {
		t.Fatal(err)
	}
}
