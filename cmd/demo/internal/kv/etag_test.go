package kv

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slap-go/slap/cmd/demo/demopb"
)

func TestPreconditionsAreReadAsRFC9110Has(t *testing.T) {
	for _, c := range []struct {
		match, none []string
		want        *demopb.Preconditions
	}{
		{nil, nil, &demopb.Preconditions{}},
		{[]string{"*"}, nil, &demopb.Preconditions{IfMatch: &demopb.ETags{Any: true}}},
		{[]string{`"a"`}, nil, &demopb.Preconditions{IfMatch: &demopb.ETags{Tags: []string{"a"}}}},
		{[]string{`"a", "b"`, `"c,d"`}, nil, &demopb.Preconditions{IfMatch: &demopb.ETags{Tags: []string{"a", "b", "c,d"}}}},
		{[]string{`W/"a", "b"`}, nil, &demopb.Preconditions{IfMatch: &demopb.ETags{Tags: []string{"b"}}}},
		{nil, []string{`W/"a"`}, &demopb.Preconditions{IfNoneMatch: &demopb.ETags{Tags: []string{"a"}}}},
		{nil, []string{" * "}, &demopb.Preconditions{IfNoneMatch: &demopb.ETags{Any: true}}},
	} {
		got, err := ParsePreconditions(c.match, c.none)
		require.NoError(t, err)
		require.Equal(t, c.want.String(), got.String())
	}
}

func TestPreconditionsRefuse(t *testing.T) {
	for _, text := range []string{"", "a", `"a`, `a"`, `"a" "b"`, `*, "a"`, `"a", *`} {
		_, err := ParsePreconditions([]string{text}, nil)
		require.ErrorContains(t, err, "If-Match", text)
		_, err = ParsePreconditions(nil, []string{text})
		require.ErrorContains(t, err, "If-None-Match", text)
	}
}

func TestHolds(t *testing.T) {
	entry := &demopb.Entry{Etag: "a"}
	anyTag, a, b := &demopb.ETags{Any: true}, &demopb.ETags{Tags: []string{"a"}}, &demopb.ETags{Tags: []string{"b"}}
	for _, c := range []struct {
		when    *demopb.Preconditions
		current *demopb.Entry
		want    bool
	}{
		{nil, nil, true},
		{&demopb.Preconditions{}, entry, true},
		{&demopb.Preconditions{IfMatch: a}, entry, true},
		{&demopb.Preconditions{IfMatch: b}, entry, false},
		{&demopb.Preconditions{IfMatch: anyTag}, entry, true},
		{&demopb.Preconditions{IfMatch: anyTag}, nil, false},
		{&demopb.Preconditions{IfMatch: a}, nil, false},
		{&demopb.Preconditions{IfMatch: &demopb.ETags{}}, entry, false},
		{&demopb.Preconditions{IfNoneMatch: anyTag}, nil, true},
		{&demopb.Preconditions{IfNoneMatch: anyTag}, entry, false},
		{&demopb.Preconditions{IfNoneMatch: a}, entry, false},
		{&demopb.Preconditions{IfNoneMatch: b}, entry, true},
		{&demopb.Preconditions{IfMatch: a, IfNoneMatch: a}, entry, false},
	} {
		require.Equal(t, c.want, holds(c.when, c.current), "%v on %v", c.when, c.current)
	}
}

func TestETagsAreNeverTheSame(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		tag := newETag()
		require.False(t, seen[tag])
		seen[tag] = true
	}
}
