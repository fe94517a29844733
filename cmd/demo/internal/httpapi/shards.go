package httpapi

import (
	"net/http"

	"github.com/slap-go/slap/cmd/demo/internal/shardmap"
)

func (s *Service) shards(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, s.shardMap())
}

func (s *Service) events(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, s.config.Journal.Entries())
}

// shardMap has every shard also before the cluster knows anything of them.
func (s *Service) shardMap() shardmap.Map {
	shards := make([]shardmap.Shard, s.config.Shards)
	for n := range shards {
		shards[n] = shardmap.Shard{Shard: n, State: "unassigned"}
	}
	for _, a := range s.config.Cluster.Assignments() {
		shard := shardmap.Shard{Shard: a.Shard, Owner: a.Owner, State: a.State.String(), Generation: a.Generation}
		if a.Err != nil {
			shard.Error = a.Err.Error()
		}
		shards[a.Shard] = shard
	}
	return shardmap.Map{Cluster: s.config.ClusterName, Node: s.config.NodeName, Shards: shards, Unreachable: s.config.Cluster.Unreachable()}
}

// healthy answers 200 while the node runs, whatever its shards do.
func (s *Service) healthy(w http.ResponseWriter, _ *http.Request) {
	select {
	case <-s.config.Cluster.Done():
		fail(w, http.StatusServiceUnavailable, problem{codeUnavailable, notExecuted, "the node has ended"})
	default:
		_, _ = w.Write([]byte("ok\n"))
	}
}

func (s *Service) ready(w http.ResponseWriter, _ *http.Request) {
	if why := s.notReady(); why != "" {
		fail(w, http.StatusServiceUnavailable, problem{codeUnavailable, notExecuted, why})
		return
	}
	_, _ = w.Write([]byte("ready\n"))
}

// notReady is empty once every shard is open here or owned elsewhere.
func (s *Service) notReady() string {
	if s.leaving.Load() {
		return "the node is leaving"
	}
	if !s.config.Cluster.Ready() {
		return "not every shard is assigned"
	}
	return ""
}
