package objectlease

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/slap-go/slap/internal/s3test"
	"github.com/slap-go/slap/internal/source"
	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/strategy"
	"github.com/slap-go/slap/strategy/lease"
)

// runtime is a node as far as opening the store asks it.
type runtime struct {
	strategy.Runtime
	store   store.Store
	path    string
	cluster string
	shards  int
}

func (r runtime) Store() store.Store  { return r.store }
func (r runtime) Path() string        { return r.path }
func (r runtime) Node() strategy.Node { return strategy.Node{Name: "a"} }
func (r runtime) Shards() int         { return r.shards }
func (r runtime) Origin() messages.Origin {
	return messages.Origin{Cluster: r.cluster}
}

func TestOptionsAreChecked(t *testing.T) {
	for want, o := range map[string]Options{
		`object-lease strategy: Path "/a" must be parts between single slashes`:  {Path: "/a"},
		`object-lease strategy: Path "a//b" must be parts`:                       {Path: "a//b"},
		`object-lease strategy: Path "` + strings.Repeat("x", 256) + `" must be`: {Path: strings.Repeat("x", 256)},
		`object-lease strategy: TTL `:                                            {Options: lease.Options{TTL: -1}},
		`object-lease strategy: MaxConcurrency `:                                 {Options: lease.Options{MaxConcurrency: -1}},
	} {
		s, err := New(o)
		if err == nil || s != nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, %v, want %q", s, err, want)
		}
	}
	for _, o := range []Options{{}, {Path: "a/b"}, {Options: lease.Options{TTL: 24 * time.Hour}}} {
		if _, err := New(o); err != nil {
			t.Error(err)
		}
	}
}

// What the loop takes for a time to live can be written.
func TestLongestTTLCanBeWritten(t *testing.T) {
	o := Options{Options: lease.Options{TTL: lease.LongestTTL + time.Millisecond}}
	if _, err := New(o); err == nil {
		t.Errorf("the loop takes a TTL of %v, which no record can have", o.TTL)
	}
}

func TestKeysOfAFile(t *testing.T) {
	want := []string{"interval", "lease_ttl", "margin", "max_clock_skew", "max_concurrency", "path"}
	if keys := source.KeysOf(reflect.TypeFor[Options]()); !slices.Equal(keys, want) {
		t.Errorf("%q, want %q", keys, want)
	}
}

// The leases are where the cluster is, unless the options say otherwise.
func TestWhereTheLeasesAre(t *testing.T) {
	cluster, other := store.Memory(), store.Memory()
	node := runtime{store: cluster, path: "path", cluster: "visits", shards: 4}
	for _, test := range []struct {
		options Options
		in      store.Store
		at      string
	}{
		{Options{}, cluster, "path/_cluster/placement/check"},
		{Options{Path: "leases"}, cluster, "leases/_cluster/placement/check"},
		{Options{Store: other}, other, "path/_cluster/placement/check"},
		{Options{Store: other, Path: "leases"}, other, "leases/_cluster/placement/check"},
	} {
		s, err := test.options.open(t.Context(), node)
		if err != nil {
			t.Fatal(err)
		}
		mustBe(t, s.Setup(t.Context()), nil)
		b, err := test.in.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		mustBe(t, b.Delete(t.Context(), "nothing"), nil)
		if _, err := b.Get(t.Context(), test.at); err != nil {
			t.Errorf("%s: %v", test.at, err)
		}
		mustBe(t, b.Delete(t.Context(), test.at), nil)
		if path, _, _ := strings.Cut(test.at, "placement"); test.options != (Options{}) { // what says whose they are
			mustBe(t, b.Delete(t.Context(), path+"cluster"), nil)
		}
		if rest, err := b.List(t.Context(), ""); err != nil || len(rest) != 0 {
			t.Errorf("there is also %v, %v", rest, err)
		}
		mustBe(t, s.Close(), nil)
		mustBe(t, b.Close(), nil)
	}
}

// Leases apart from their cluster's data may be at the same place as another's by mistake:
// each would take the other's nodes for its own, and leave them shards that they cannot serve.
func TestP1_1_LeasesAreOfOneCluster(t *testing.T) {
	at := Options{Store: store.Memory(), Path: "leases"}
	setUp := func(r runtime) error {
		s, err := at.open(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		return s.Setup(t.Context())
	}
	for range 2 {
		mustBe(t, setUp(runtime{cluster: "visits", shards: 4}), nil)
	}
	for want, r := range map[string]runtime{
		`the store belongs to cluster "visits", not to "orders"`: {cluster: "orders", shards: 4},
		"the store's cluster has 4 shards, not 8":                {cluster: "visits", shards: 8},
	} {
		mustRefuse(t, setUp(r), want)
	}
}

// A store that is away is an error, and no store: the loop tries again.
func TestStoreThatIsAway(t *testing.T) {
	o := Options{Store: store.S3(store.S3Options{
		Bucket: "bucket", Region: s3test.Region, Endpoint: "http://127.0.0.1:1",
		Credentials: credentials.NewStaticCredentialsProvider(s3test.AccessKey, s3test.SecretKey, ""),
	})}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s, err := o.open(ctx, runtime{})
	if err == nil || s != nil || !strings.Contains(err.Error(), "open the store of the leases: ") {
		t.Errorf("%v, %v", s, err)
	}
}
