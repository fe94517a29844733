package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/store/faults"
)

const identityKey = "p/_cluster/cluster"

func identify(b store.Bucket, cluster string, shards int) (store.Identity, error) {
	return store.Identify(context.Background(), b, store.IdentityConfig{Path: "p", Cluster: cluster, Shards: shards})
}

func mustIdentify(t *testing.T, b store.Bucket, cluster string, shards int) store.Identity {
	t.Helper()
	id, err := identify(b, cluster, shards)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func mustRecord(t *testing.T, b store.Bucket, text string) {
	t.Helper()
	if _, err := b.Put(t.Context(), identityKey, []byte(text), store.Overwrite()); err != nil {
		t.Fatal(err)
	}
}

func recorded(t *testing.T, b store.Bucket) map[string]any {
	t.Helper()
	o, err := b.Get(t.Context(), identityKey)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(o.Data, &fields); err != nil {
		t.Fatal(err)
	}
	return fields
}

func TestP1_1_FirstStartRecords(t *testing.T) {
	b := faulty(t)
	id, err := store.Identify(t.Context(), b, store.IdentityConfig{Path: "p", Cluster: "orders", Shards: 64, Random: fixed()})
	want := store.Identity{Layout: 1, Cluster: "orders", ID: "fbefbe07fbefbe07fbefbe07fbefbe07", Shards: 64}
	if err != nil || id != want {
		t.Fatalf("Identify = %+v, %v, want %+v", id, err, want)
	}
	fields := recorded(t, b)
	if len(fields) != 4 || fields["layout"] != 1.0 || fields["cluster"] != "orders" || fields["id"] != want.ID || fields["shards"] != 64.0 {
		t.Errorf("recorded %v", fields)
	}
	if again := mustIdentify(t, b, "orders", 64); again != want {
		t.Errorf("the second start got %+v", again)
	}
	if puts := b.Requests(faults.Put, "*"); puts != 1 {
		t.Errorf("%d writes, want 1", puts)
	}
	if _, err := store.Identify(t.Context(), b, store.IdentityConfig{Cluster: "other path", Shards: 1}); err != nil {
		t.Errorf("another path of the store: %v", err)
	}
}

func TestP1_1_MismatchNamesBothValues(t *testing.T) {
	tests := []struct {
		cluster string
		shards  int
		says    []string
	}{
		{"invoices", 64, []string{`"orders"`, `"invoices"`, identityKey}},
		{"Orders", 64, []string{`"orders"`, `"Orders"`, identityKey}},
		{"orders", 65, []string{"64", "65", identityKey}},
		{"", 63, []string{"64", "63", identityKey}},
	}
	b := faulty(t)
	first := mustIdentify(t, b, "orders", 64)
	for _, test := range tests {
		_, err := identify(b, test.cluster, test.shards)
		mustRefuse(t, err, test.says...)
	}
	if again := mustIdentify(t, b, "orders", 64); again != first {
		t.Errorf("a refused start changed the record to %+v", again)
	}
}

func mustRefuse(t *testing.T, err error, says ...string) {
	t.Helper()
	if !errors.Is(err, store.ErrIdentity) {
		t.Fatalf("the error is %v, want ErrIdentity", err)
	}
	for _, want := range says {
		if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("the error %q does not say %q", err, want)
		}
	}
}

func TestP1_1_EmptyNameIsReplacedByTheFirstGiven(t *testing.T) {
	b := faulty(t)
	first := mustIdentify(t, b, "", 8)
	if first.Cluster != "" || first.ID == "" {
		t.Fatalf("without a name: %+v", first)
	}
	mustIdentify(t, b, "", 8)
	named := mustIdentify(t, b, "orders", 8)
	if named.Cluster != "orders" || named.ID != first.ID {
		t.Errorf("after a name was given: %+v, before: %+v", named, first)
	}
	if unnamed := mustIdentify(t, b, "", 8); unnamed != named {
		t.Errorf("without a name again: %+v", unnamed)
	}
	_, err := identify(b, "invoices", 8)
	mustRefuse(t, err, `"orders"`, `"invoices"`)
}

func TestP1_1_UnknownKeysAreKept(t *testing.T) {
	b := faulty(t)
	mustRecord(t, b, `{"layout":1,"cluster":"","id":"abc","shards":8,"region":{"home":"eu"},"big":12345678901234567890}`)
	id := mustIdentify(t, b, "orders", 8)
	if id.ID != "abc" || id.Cluster != "orders" {
		t.Errorf("Identify = %+v", id)
	}
	o, err := b.Get(t.Context(), identityKey)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"region":{"home":"eu"}`, `"big":12345678901234567890`, `"cluster":"orders"`} {
		if !strings.Contains(string(o.Data), want) {
			t.Errorf("the record %s has no %s", o.Data, want)
		}
	}
}

func TestP1_1_BadRecords(t *testing.T) {
	tests := []struct{ record, says string }{
		{``, "corrupt"},
		{`null`, "corrupt"},
		{`[]`, "corrupt"},
		{`{}`, "corrupt"},
		{`{"layout":1,"cluster":"orders","id":"abc","shards":8`, "corrupt"},
		{`{"layout":1,"cluster":"orders","id":"abc","shards":8}{}`, "corrupt"},
		{`{"layout":1,"cluster":"orders","id":"abc"}`, "corrupt"},
		{`{"layout":1,"cluster":"orders","id":"","shards":8}`, "corrupt"},
		{`{"layout":1,"cluster":"orders","id":"abc","shards":-8}`, "corrupt"},
		{`{"layout":1,"cluster":["orders"],"id":"abc","shards":8}`, "corrupt"},
		{`{"layout":0,"cluster":"orders","id":"abc","shards":8}`, "corrupt"},
		{`{"layout":"1","cluster":"orders","id":"abc","shards":8}`, "corrupt"},
		{`{"layout":2,"cluster":"orders","id":"abc","shards":8}`, "layout 2"},
		{`{"layout":3,"clusters":["orders"],"shards":{"orders":8}}`, "layout 3"},
	}
	for _, test := range tests {
		b := faulty(t)
		mustRecord(t, b, test.record)
		_, err := identify(b, "orders", 8)
		mustRefuse(t, err, test.says, identityKey)
		if o, err := b.Get(t.Context(), identityKey); err != nil || string(o.Data) != test.record {
			t.Errorf("record %s became %s, %v", test.record, o.Data, err)
		}
	}
}

func TestP1_1_FirstStartsConvergeOnOneID(t *testing.T) {
	dir := t.TempDir()
	for round := range 10 {
		buckets := map[string]func() store.Bucket{
			"directory": func() store.Bucket { return open(t, store.Dir(fmt.Sprintf("%s/%d", dir, round))) },
		}
		memory := open(t, store.Memory())
		buckets["memory"] = func() store.Bucket { return memory }
		for name, open := range buckets {
			mustConverge(t, name, open)
		}
	}
}

func mustConverge(t *testing.T, name string, open func() store.Bucket) {
	t.Helper()
	const nodes = 16
	ids := make([]store.Identity, nodes)
	var group sync.WaitGroup
	for i := range nodes {
		b := open()
		group.Go(func() {
			cluster := []string{"", "orders"}[i%2]
			var err error
			if ids[i], err = identify(b, cluster, 8); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	group.Wait()
	for _, id := range ids {
		if id.ID != ids[0].ID {
			t.Errorf("%s: ids %q and %q", name, ids[0].ID, id.ID)
		}
	}
	if id := mustIdentify(t, open(), "", 8); id.Cluster != "orders" || id.ID != ids[0].ID {
		t.Errorf("%s: recorded %+v, want id %s", name, id, ids[0].ID)
	}
}

func TestP1_1_LostRepliesAreReadBack(t *testing.T) {
	b := faulty(t, faults.Rule{Ops: faults.Put, Fault: faults.LoseReply()})
	first := mustIdentify(t, b, "", 8)
	named := mustIdentify(t, b, "orders", 8)
	if named.ID != first.ID || named.Cluster != "orders" {
		t.Errorf("after lost replies: %+v, then %+v", first, named)
	}
	if puts := b.Requests(faults.Put, "*"); puts != 2 {
		t.Errorf("%d writes, want 2", puts)
	}

	lost := faulty(t, faults.Rule{Ops: faults.Put, Times: 1, Fault: faults.Fail(store.ErrUnknownOutcome)})
	if id := mustIdentify(t, lost, "orders", 8); id != mustIdentify(t, lost, "orders", 8) {
		t.Error("a write that was lost on its way was not made again")
	}
}

func TestP1_1_StoreErrors(t *testing.T) {
	away := errors.New("connection refused")
	for _, op := range []faults.Op{faults.Get, faults.Put} {
		_, err := identify(faulty(t, faults.Rule{Ops: op, Fault: faults.Fail(away)}), "orders", 8)
		if !errors.Is(err, away) || errors.Is(err, store.ErrIdentity) {
			t.Errorf("the error is %v", err)
		}
	}
	_, err := identify(faulty(t, faults.Rule{Ops: faults.Get, Fault: faults.Fail(store.ErrNotFound)}), "orders", 8)
	if err == nil || !strings.Contains(err.Error(), identityKey) {
		t.Errorf("a store that hides the record: %v", err)
	}
	if _, err := identify(faulty(t), "orders", 0); err == nil || !strings.Contains(err.Error(), "shards") {
		t.Errorf("no shards: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := store.Identify(ctx, faulty(t), store.IdentityConfig{Shards: 8}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled start: %v", err)
	}
}
