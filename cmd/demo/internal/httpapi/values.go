package httpapi

import (
	"net/http"

	"github.com/slap-go/slap/cmd/demo/demopb"
	"github.com/slap-go/slap/cmd/demo/internal/kv"
)

func (s *Service) putValue(w http.ResponseWriter, r *http.Request) {
	key, when, err := guarded(r)
	if err != nil {
		invalid(w, err)
		return
	}
	value, err := body(w, r)
	if err != nil {
		invalid(w, err)
		return
	}
	done, ok := ask[*demopb.PutDone](s, w, r, s.config.Cluster.ShardForString(key), kv.Child,
		&demopb.Put{Key: []byte(key), Value: value, When: when})
	switch {
	case !ok:
	case done.GetRefused():
		refuse(w)
	default:
		w.Header().Set("ETag", kv.Quote(done.GetEtag()))
		w.WriteHeader(http.StatusOK)
	}
}

func (s *Service) getValue(w http.ResponseWriter, r *http.Request) {
	key, err := key(r)
	if err != nil {
		invalid(w, err)
		return
	}
	got, ok := ask[*demopb.Got](s, w, r, s.config.Cluster.ShardForString(key), kv.Child, &demopb.Get{Key: []byte(key)})
	switch {
	case !ok:
	case got.GetEntry() == nil:
		fail(w, http.StatusNotFound, problem{codeNotFound, notExecuted, "the key has no value"})
	default:
		w.Header().Set("ETag", kv.Quote(got.GetEntry().GetEtag()))
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write(got.GetEntry().GetValue()) //nolint:gosec // bytes without a type, which no browser may guess
	}
}

func (s *Service) deleteValue(w http.ResponseWriter, r *http.Request) {
	key, when, err := guarded(r)
	if err != nil {
		invalid(w, err)
		return
	}
	done, ok := ask[*demopb.DeleteDone](s, w, r, s.config.Cluster.ShardForString(key), kv.Child,
		&demopb.Delete{Key: []byte(key), When: when})
	switch {
	case !ok:
	case done.GetRefused():
		refuse(w)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

// guarded is the key of a write and what has to hold for it.
func guarded(r *http.Request) (string, *demopb.Preconditions, error) {
	key, err := key(r)
	if err != nil {
		return "", nil, err
	}
	when, err := kv.ParsePreconditions(r.Header.Values("If-Match"), r.Header.Values("If-None-Match"))
	return key, when, err
}

func refuse(w http.ResponseWriter) {
	fail(w, http.StatusPreconditionFailed, problem{codePrecondition, notExecuted, "the precondition does not hold: nothing was written"})
}
