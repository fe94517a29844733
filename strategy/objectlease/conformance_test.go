package objectlease

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/slap-go/slap/internal/s3test"
	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/strategy/lease"
	"github.com/slap-go/slap/strategy/lease/leasetest"
)

// at opens the records of node "a" below a path; the test or the suite closes them.
func at(t *testing.T, s store.Store, path string) *records {
	t.Helper()
	r, err := open(t.Context(), s, path)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestLL24_MemoryConformance(t *testing.T) {
	leasetest.Run(t, func(t *testing.T) lease.Store { return at(t, store.Memory(), "") })
}

func TestLL24_DirConformance(t *testing.T) {
	leasetest.Run(t, func(t *testing.T) lease.Store { return at(t, store.Dir(t.TempDir()), "some/path") })
}

func TestLL24_S3Conformance(t *testing.T) {
	server := s3test.Start(t, "bucket")
	var place atomic.Int64
	leasetest.Run(t, func(t *testing.T) lease.Store {
		return at(t, server.Store("bucket", "prefix"), fmt.Sprintf("conformance/%d", place.Add(1)))
	})
}
