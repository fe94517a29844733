package load

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/slap-go/slap/cmd/demo/internal/client"
)

// value is what its one writer knows of a key. Every write is conditional on the
// ETag before it, so of the writes with an unknown outcome at most one can have
// happened, or happen yet, and none after the next acknowledged one.
type value struct {
	key     string
	etag    string // last known; empty while the key has no value
	current string
	pending []string            // values whose writes may follow etag
	etags   map[string]struct{} // all acknowledged
	number  int                 // makes every value different
	verdict Verdict
}

func newValue(key string) *value { return &value{key: key, etags: map[string]struct{}{}} }

// write puts a new value; after an unknown outcome it looks first what happened.
func (v *value) write(ctx context.Context, node *client.Client) error {
	if len(v.pending) > 0 {
		if err := v.look(ctx, node); err != nil {
			return err
		}
	}
	v.number++
	next := fmt.Sprintf("%s #%d", v.key, v.number)
	etag, err := node.Put(ctx, v.key, []byte(next), v.etag)
	switch {
	case err == nil:
		v.acknowledged(etag, next)
	case errors.Is(err, client.ErrPrecondition):
		return v.refused(ctx, node)
	case !errors.Is(err, client.ErrNotExecuted):
		v.pending = append(v.pending, next)
	}
	return err
}

func (v *value) acknowledged(etag, value string) {
	if _, used := v.etags[etag]; used || etag == "" {
		v.verdict.twicef("key %s: ETag %s was acknowledged twice", v.key, etag)
	}
	v.etags[etag] = struct{}{}
	v.etag, v.current, v.pending = etag, value, nil
}

// refused is right only if a write with an unknown outcome came before.
func (v *value) refused(ctx context.Context, node *client.Client) error {
	if len(v.pending) == 0 {
		v.verdict.losef(1, "key %s no longer has ETag %s, and nobody else writes it", v.key, v.etag)
	}
	return v.look(ctx, node)
}

// look reads the key and takes what it finds as known.
func (v *value) look(ctx context.Context, node *client.Client) error {
	data, etag, err := node.Get(ctx, v.key)
	if err != nil && !errors.Is(err, client.ErrNotFound) {
		return err
	}
	found := string(data)
	switch {
	case etag == v.etag && found == v.current:
	case slices.Contains(v.pending, found):
		v.acknowledged(etag, found)
	default:
		v.verdict.losef(1, "key %s has %q (%s) instead of %q (%s) or one of %d unknown writes",
			v.key, found, etag, v.current, v.etag, len(v.pending))
		v.etag, v.current = etag, found
	}
	return nil
}

func (v *value) verify(ctx context.Context, node *client.Client) (Verdict, error) {
	if err := v.look(ctx, node); err != nil {
		return Verdict{}, fmt.Errorf("key %s: %w", v.key, err)
	}
	return v.verdict, nil
}
