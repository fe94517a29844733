package tour

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/slap-go/slap/cmd/demo/internal/load"
	"github.com/slap-go/slap/cmd/demo/internal/shardmap"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pictured is what three nodes say when each shard is served by the node in owners, a
// letter for each shard; the nodes in gone say nothing.
func pictured(owners, gone string) picture {
	var p picture
	for _, name := range []string{"a", "b", "c"} {
		v := view{name: name}
		for n, owner := range strings.Split(owners, "") {
			s := shardmap.Shard{Shard: n, Owner: owner, State: "remote"}
			if owner == name {
				s.State = "running"
			}
			v.shards = append(v.shards, s)
		}
		if strings.Contains(gone, name) {
			v.shards = nil
		}
		p = append(p, v)
	}
	return p
}

func TestAPictureIsWhatEachNodeSaysOfEachShard(t *testing.T) {
	p := pictured("aaabbbcc", "b")
	p[0].shards[3] = shardmap.Shard{Shard: 3, State: "opening", Owner: "a"}
	p[0].shards[4] = shardmap.Shard{Shard: 4, State: "unassigned"}
	require.Equal(t, "a ●●●◔○···   b ––––––––   c ······●●", p.String())
	require.Equal(t, []string{"a", "", "c"}, []string{p.owner(0), p.owner(3), p.owner(7)})
	require.Equal(t, "a has 0 1 2, c has 6 7", p.holdings())
	require.Equal(t, "6 7", p.holding("c"))
}

func TestAPictureIsSettledWhenTheNodesAgreeAndSharesAreEven(t *testing.T) {
	require.NoError(t, pictured("aaabbbcc", "").settled())
	require.NoError(t, pictured("aaaacccc", "b").settled())
	require.ErrorContains(t, pictured("aaaacccc", "").settled(), "not even")
	require.ErrorContains(t, pictured("aaabbbcc", "b").settled(), "nobody serves shard 3")
	stale := pictured("aaabbbcc", "")
	stale[2].shards[0].Owner = "b"
	require.ErrorContains(t, stale.settled(), "node c takes shard 0 for remote of \"b\", not of a")
	require.NoError(t, servedBy(2)(pictured("aaaacccc", "b")))
	require.Error(t, servedBy(3)(pictured("aaaacccc", "b")))
}

func TestAWatchTellsWhichShardsMoved(t *testing.T) {
	w := &watch{moves: map[int]move{}}
	began := time.Now()
	w.note(pictured("aaabbbcc", ""), began)
	require.Empty(t, w.note(pictured("aaabbbcc", ""), began))
	require.Empty(t, w.note(pictured("aaabbbcc", "b"), began.Add(time.Second)), "nobody serves them")
	require.Equal(t, []string{"3→a", "4→c"}, w.note(pictured("aaaacbcc", "b"), began.Add(2*time.Second)))
	require.Equal(t, []string{"5→b"}, w.note(pictured("aaaacbcc", ""), began.Add(3*time.Second)))
	require.Equal(t, "3→a after 2.00 s, 4→c after 2.00 s, 5→b after 3.00 s", w.movedSince(began))
	require.Empty(t, w.movedSince(began.Add(time.Hour)))
}

func TestTheTableTellsWhatWasLost(t *testing.T) {
	rows := []row{
		{step: "start", happened: "8 shards shared out over 3 nodes"},
		{step: "kill -9", happened: "b's shards", outage: 3 * time.Second, tally: load.Tally{Acknowledged: 7}},
	}
	var out bytes.Buffer
	require.NoError(t, report(&out, rows))
	require.Regexp(t, `(?m)^kill -9 +b's shards +3\.00 s +7 +0$`, out.String())
	require.Contains(t, out.String(), "Of 7 acknowledged writes none was lost.")
	for line := range strings.Lines(out.String()) {
		require.LessOrEqual(t, utf8.RuneCountInString(line), 101, line)
	}
	rows[1].verdict = load.Verdict{Lost: 2, First: "counter k is 1"}
	out.Reset()
	require.ErrorContains(t, report(&out, rows), "kill -9: 2 acknowledged writes lost")
	require.NotContains(t, out.String(), "none was lost")
}

func TestEveryStepIsExplainedInOneLine(t *testing.T) {
	for i, s := range steps() {
		var out bytes.Buffer
		(&teller{out: &out}).begin(i+1, s)
		line := strings.TrimSpace(out.String())
		require.NotContains(t, line, "\n")
		require.LessOrEqual(t, utf8.RuneCountInString(line), 100, line)
	}
}
