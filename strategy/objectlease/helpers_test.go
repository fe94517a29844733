package objectlease

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/store/faults"
	"github.com/slap-go/slap/strategy/lease"
)

// faulty are records in memory whose bucket misbehaves as told. The test closes them.
func faulty(t *testing.T) (*records, *faults.Bucket) {
	t.Helper()
	inner, err := store.Memory().Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b := faults.New(inner, faults.Options{})
	r := &records{bucket: b, place: placeIn("")}
	t.Cleanup(func() { _ = r.Close() })
	return r, b
}

func claim(shard int, replaced lease.Version, owner string) lease.Lease {
	return lease.Lease{Shard: shard, Version: replaced, Record: lease.Record{
		Owner: owner, Address: owner + ":1", Incarnation: "i", Generation: 4, TTL: 15 * time.Second,
		Nonce: time.Now().String(), ExpiresAt: time.UnixMilli(1_790_000_000_123),
	}}
}

func mustWrite(t *testing.T, s lease.Store, l lease.Lease) lease.Version {
	t.Helper()
	v, err := s.WriteLease(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// mustPut writes an object, as somebody else may.
func mustPut(t *testing.T, b store.Bucket, key, data string) store.Version {
	t.Helper()
	v, err := b.Put(t.Context(), key, []byte(data), store.Overwrite())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func mustHold(t *testing.T, b store.Bucket, key, want string) {
	t.Helper()
	o, err := b.Get(t.Context(), key)
	if err != nil || string(o.Data) != want {
		t.Errorf("%s holds %s (%v)\nwant %s", key, o.Data, err, want)
	}
}

func mustBe(t *testing.T, err error, kinds ...error) {
	t.Helper()
	for _, kind := range kinds {
		if !errors.Is(err, kind) {
			t.Errorf("%v, want %v", err, kind)
		}
	}
}

// renew renews a list and returns the errors by place.
func renew(ctx context.Context, s lease.Store, list []lease.Lease) []error {
	errs := make([]error, len(list))
	s.Renew(ctx, list, func(i int, _ lease.Version, err error) { errs[i] = err })
	return errs
}
