package slap_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/internal/testlog"
	"github.com/slap-go/slap/peers"
)

// Nodes that do not share a store would each serve all shards: the greeting of the cluster
// tells whoever starts later.
func TestP7_1_APeerThatCannotBeOneIsToldOf(t *testing.T) {
	t.Parallel()
	ours, others := newSeveral(t, 1, 15*time.Second), newSeveral(t, 1, 15*time.Second)
	pid, err := ours.start("a").PID(t.Context(), 0, "counter")
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		cluster *several
		peer    string
		want    string
	}{
		"another store": {
			others, "a=" + pid.GetAddress(), "refused: node a belongs to another cluster: give all nodes the same Cluster, Store and Path",
		},
		"another name": {ours, "z=" + pid.GetAddress(), "is node a: correct Peers, or its Name"},
		"a peer":       {ours, "a=" + pid.GetAddress(), ""},
		"nobody":       {ours, "x=127.0.0.1:1", ""},
	} {
		var log testlog.Buffer
		test.cluster.adjust = func(_ string, c *slap.Config) {
			c.Peers, c.Logger = peers.Static(test.peer), slog.New(slog.NewTextHandler(&log, nil))
		}
		test.cluster.start("b")
		if test.want != "" {
			eventually(t, "it is told of", func() bool { return strings.Contains(log.String(), "peer "+test.peer) })
		}
		test.cluster.stop("b")
		if got := log.String(); !strings.Contains(got, test.want) || test.want == "" && strings.Contains(got, "peer "+test.peer) {
			t.Errorf("%s: the log says %s", name, got)
		}
	}
}
