package httpapi

import (
	"net/http"

	"google.golang.org/protobuf/proto"

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
	done, ok := askValues[*demopb.PutDone](s, w, r, key, &demopb.Put{Key: []byte(key), Value: value, When: when})
	if ok {
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
	entry, ok := askValues[*demopb.Entry](s, w, r, key, &demopb.Get{Key: []byte(key)})
	if ok {
		w.Header().Set("ETag", kv.Quote(entry.GetEtag()))
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write(entry.GetValue()) //nolint:gosec // bytes without a type, which no browser may guess
	}
}

func (s *Service) deleteValue(w http.ResponseWriter, r *http.Request) {
	key, when, err := guarded(r)
	if err != nil {
		invalid(w, err)
		return
	}
	if _, ok := askValues[*demopb.DeleteDone](s, w, r, key, &demopb.Delete{Key: []byte(key), When: when}); ok {
		w.WriteHeader(http.StatusNoContent)
	}
}

// askValues asks the child that keeps the key's value.
func askValues[T proto.Message](s *Service, w http.ResponseWriter, r *http.Request, key string, request proto.Message) (T, bool) {
	return ask[T](w, r, s.config.Cluster.Ask, s.config.Cluster.ShardForString(key), kv.Child, request)
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
