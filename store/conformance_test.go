package store_test

import (
	"testing"

	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/store/storetest"
)

func TestMemoryConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Bucket { return store.NewMemoryBucketForTest() })
}

func TestDirConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Bucket { return store.NewDirBucketForTest(t, t.TempDir()) })
}
