package httpapi

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/slap-go/slap/cmd/demo/demopb"
	"github.com/slap-go/slap/cmd/demo/internal/counter"
)

// count is the answer to a request for a counter.
type count struct {
	Key   string  `json:"key"`
	Value int64   `json:"value"`
	Shard int     `json:"shard"`
	Seq   *uint64 `json:"seq,omitempty"` // of a write
	Node  string  `json:"node"`
}

// addToCounter asks the child that is the counter's only writer.
func (s *Service) addToCounter(w http.ResponseWriter, r *http.Request) {
	key, err := key(r)
	if err != nil {
		invalid(w, err)
		return
	}
	by, err := amount(r)
	if err != nil {
		invalid(w, err)
		return
	}
	shard := s.config.Cluster.ShardForString(key)
	added, ok := ask[*demopb.Added](w, r, s.config.Cluster.Ask, shard, counter.Child, &demopb.Add{Key: []byte(key), By: by})
	if ok {
		writeJSON(w, http.StatusOK, count{key, added.GetValue(), shard, &added.Seq, s.config.NodeName})
	}
}

// readCounter calls the handler, which waits behind no addition.
func (s *Service) readCounter(w http.ResponseWriter, r *http.Request) {
	key, err := key(r)
	if err != nil {
		invalid(w, err)
		return
	}
	shard := s.config.Cluster.ShardForString(key)
	read, ok := ask[*demopb.CounterValue](w, r, s.config.Cluster.Call, shard, counter.Handler, &demopb.ReadCounter{Key: []byte(key)})
	if ok {
		writeJSON(w, http.StatusOK, count{key, read.GetValue(), shard, nil, s.config.NodeName})
	}
}

// amount is the query's by, 1 when it is not there.
func amount(r *http.Request) (int64, error) {
	if r.ContentLength > maxBody {
		return 0, fmt.Errorf("the body is too large: at most %d bytes are allowed", maxBody)
	}
	query := r.URL.Query()
	if !query.Has("by") {
		return 1, nil
	}
	by, err := strconv.ParseInt(query.Get("by"), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("by: %q is no whole number of 64 bits", query.Get("by"))
	}
	return by, nil
}
