package store_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slap-go/slap/store"
)

func TestParseRoundTrips(t *testing.T) {
	for _, tc := range []struct{ in, want string }{
		{"memory:///", "memory:///"},
		{"memory:", "memory:///"},
		{"file:///var/lib/slap", "file:///var/lib/slap"},
		{"FILE:///a%20b/%23/é", "file:///a%20b/%23/%C3%A9"},
		{"s3://bucket", "s3://bucket"},
		{"s3://bucket/", "s3://bucket"},
		{"s3://my.bucket-1/a/b/", "s3://my.bucket-1/a/b"},
		{
			"s3://bucket/prefix?region=us-east-1&endpoint=http%3A%2F%2F127.0.0.1%3A7070",
			"s3://bucket/prefix?endpoint=http://127.0.0.1:7070&region=us-east-1",
		},
		{
			"s3://bucket/p?endpoint=https://[::1]:9000/path&profile=a%20b&virtual_hosted=true&request_timeout=1500ms",
			"s3://bucket/p?endpoint=https://%5B::1%5D:9000/path&profile=a+b&request_timeout=1.5s&virtual_hosted=true",
		},
		{"s3://bucket/p?virtual_hosted=false", "s3://bucket/p"},
	} {
		s, err := store.Parse(tc.in)
		if err != nil {
			t.Errorf("%s: %v", tc.in, err)
			continue
		}
		if s.String() != tc.want {
			t.Errorf("%s became %s; want %s", tc.in, s, tc.want)
		}
		again, err := store.Parse(s.String())
		if err != nil || again.String() != tc.want {
			t.Errorf("%s became %s, %v", s, again, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"nothing", "", "must look like"},
		{"a path", "/var/lib/slap", "must look like"},
		{"another scheme", "https://bucket.s3.amazonaws.com", "must look like"},
		{"garbage", "s3://bu cket/%zz", "must look like"},
		{"memory with a name", "memory:///name", "memory:///"},
		{"memory with a host", "memory://name", "memory:///"},
		{"memory with a query", "memory:///?size=1", `no key "size"`},
		{"file with two slashes", "file://dir/sub", "three slashes"},
		{"file, relative", "file:dir/sub", "three slashes"},
		{"file on a host", "file://localhost/dir", "three slashes"},
		{"file without a path", "file:///", "three slashes"},
		{"file with a query", "file:///dir?sync=true", `no key "sync"`},
		{"s3 without a bucket", "s3:///prefix", "begins with the bucket"},
		{"s3 with one slash", "s3:/bucket", "begins with the bucket"},
		{"s3 with a port", "s3://bucket:9000/prefix", "not a bucket name"},
		{"short bucket", "s3://b/prefix", "not a bucket name"},
		{"bucket with an underscore at its end", "s3://bucket_/prefix", "not a bucket name"},
		{"prefix with dots", "s3://bucket/a/../b", "prefix"},
		{"prefix with a hole", "s3://bucket/a//b", "prefix"},
		{"unknown key", "s3://bucket/p?regoin=us-east-1", `unknown key "regoin"`},
		{"key without a value", "s3://bucket/p?region", `"region" no value`},
		{"key twice", "s3://bucket/p?region=a&region=b", `"region" more than once`},
		{"malformed query", "s3://bucket/p?region=%zz", "query of the store URL is malformed"},
		{"semicolons", "s3://bucket/p?region=a;profile=b", "query of the store URL is malformed"},
		{"bad region", "s3://bucket/p?region=us%20east", "not an AWS region"},
		{"bad endpoint", "s3://bucket/p?endpoint=127.0.0.1:9000", "endpoint must be a URL"},
		{"endpoint of another kind", "s3://bucket/p?endpoint=ftp://host", "endpoint must be a URL"},
		{"endpoint with a query", "s3://bucket/p?endpoint=http://host?a=b", "remove the query"},
		{"bad flag", "s3://bucket/p?virtual_hosted=yes", "virtual_hosted"},
		{"timeout without a unit", "s3://bucket/p?request_timeout=5", "request_timeout"},
		{"no timeout", "s3://bucket/p?request_timeout=0s", "request_timeout"},
		{"fragment", "s3://bucket/p#1", "%23"},
		{"credentials", "s3://AKIASECRET:SECRET@bucket/p", "contains credentials"},
		{"access key alone", "s3://SECRET@bucket/p", "contains credentials"},
		{"credentials with a slash", "s3://KEY:SEC/RET@bucket/p", "must look like"},
		{"credentials that are no URL", "s3://KEY:SEC%RET@bucket/p", "must look like"},
		{"credentials of a file", "file://SECRET@/dir", "contains credentials"},
		{"credentials in the query", "s3://bucket/p?secret_access_key=SECRET", "contains credentials"},
		{"credentials in the endpoint", "s3://bucket/p?endpoint=http://KEY:SECRET@host:1", "contains credentials"},
	} {
		s, err := store.Parse(tc.in)
		switch {
		case err == nil:
			t.Errorf("%s: %s was read as %s", tc.name, tc.in, s)
		case !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "\n"):
			t.Errorf("%s: %v; want something about %q", tc.name, err, tc.want)
		case strings.Contains(err.Error(), "SECRET") || strings.Contains(err.Error(), "RET@"):
			t.Errorf("%s: the error repeats the secret: %v", tc.name, err)
		case !s.IsZero():
			t.Errorf("%s: a store came with the error", tc.name)
		}
	}
}

func TestStringShowsNoCredentials(t *testing.T) {
	s := store.S3(store.S3Options{
		Bucket: "bucket", Endpoint: "http://KEY:SECRET@127.0.0.1:9000?token=SECRET#SECRET", Credentials: static,
	})
	if text := s.String(); text != "s3://bucket?endpoint=http://127.0.0.1:9000" {
		t.Errorf("the store is shown as %s", text)
	}
	if text := store.S3(store.S3Options{Bucket: "bucket", Endpoint: "http://KEY:SECRET%@host"}).String(); text != "s3://bucket" {
		t.Errorf("the store is shown as %s", text)
	}
}

func TestZeroStoreNamesNoPlace(t *testing.T) {
	var s store.Store
	if !s.IsZero() || s.String() != "" || store.Memory().IsZero() {
		t.Errorf("zero: %t, %q", s.IsZero(), s.String())
	}
	if b, err := s.Open(t.Context()); err == nil || b != nil || !strings.Contains(err.Error(), "no store is given") {
		t.Errorf("Open: %v, %v", b, err)
	}
	if _, err := s.Location(t.Context()); err == nil {
		t.Error("it has a location")
	}
}

func TestRelativeDirectoryIsMadeAbsolute(t *testing.T) {
	t.Chdir(t.TempDir())
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	s := store.Dir("some where")
	at, err := s.Location(t.Context())
	if err != nil || at.Kind != store.KindDir || at.Dir != filepath.Join(here, "some where") {
		t.Fatalf("location %+v, %v", at, err)
	}
	again, err := store.Parse(s.String())
	if err != nil {
		t.Fatal(err)
	}
	if there, err := again.Location(t.Context()); err != nil || there.Dir != at.Dir {
		t.Fatalf("%s leads to %q, %v; want %q", s, there.Dir, err, at.Dir)
	}
	if _, err := os.Stat(at.Dir); err == nil {
		t.Error("a location was created")
	}
	b := open(t, s)
	if _, err := b.Put(t.Context(), "key", nil, store.IfAbsent()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(at.Dir); err != nil {
		t.Error(err)
	}
	if _, err := store.Dir("").Open(t.Context()); err == nil {
		t.Error("a directory without a path was opened")
	}
}

func TestMemoryIsSharedByCopies(t *testing.T) {
	s := store.Memory()
	one, two, other := open(t, s), open(t, s), open(t, store.Memory())
	if _, err := one.Put(t.Context(), "key", nil, store.IfAbsent()); err != nil {
		t.Fatal(err)
	}
	if _, err := two.Get(t.Context(), "key"); err != nil {
		t.Error(err)
	}
	if _, err := other.Get(t.Context(), "key"); err == nil {
		t.Error("two memories share an object")
	}
	first, _ := s.Location(t.Context())
	second, _ := s.Location(t.Context())
	if first.Kind != store.KindMemory || first.Space == nil || first.Space != second.Space {
		t.Errorf("locations %+v and %+v", first, second)
	}
}

// What Parse accepts, String writes, and Parse reads alike.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"memory:///", "file:///dir", "s3://bucket/a/b?endpoint=http://127.0.0.1:7070&region=us-east-1", "s3://k:s@bucket",
		"s3://bucket?request_timeout=1h&virtual_hosted=true&profile=%26", "file:///%2f", "s3://bucket/%2e%2e",
		"s3://bucket/a%3fb?endpoint=https://[::1]/x%2525",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, url string) {
		s, err := store.Parse(url)
		if err != nil {
			return
		}
		again, err := store.Parse(s.String())
		if err != nil || again.String() != s.String() {
			t.Fatalf("%q is written %q, which is read as %q, %v", url, s, again, err)
		}
	})
}
