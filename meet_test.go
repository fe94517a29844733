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
		t.Run(name, func(t *testing.T) {
			if test.want == "" {
				if got := meet(t, test.cluster, test.peer, time.Second); strings.Contains(got, "peer "+test.peer) {
					t.Errorf("the log says %s", got)
				}
				return
			}
			eventually(t, "it is told of", func() bool { // a start greets once, and not for long
				return strings.Contains(meet(t, test.cluster, test.peer, 5*time.Second), test.want)
			})
		})
	}
}

// meet is what a node says of its peer in that time, or less if it says something.
func meet(t *testing.T, s *several, peer string, patience time.Duration) string {
	t.Helper()
	var log testlog.Buffer
	s.adjust = func(_ string, c *slap.Config) {
		c.Peers, c.Logger = peers.Static(peer), slog.New(slog.NewTextHandler(&log, nil))
	}
	s.start("b")
	for deadline := time.Now().Add(patience); !strings.Contains(log.String(), "peer "+peer) && time.Now().Before(deadline); {
		time.Sleep(5 * time.Millisecond)
	}
	s.stop("b")
	return log.String()
}
