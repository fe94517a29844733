package shardmap

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEveryShardIsDrawnInItsPlace(t *testing.T) {
	m := Map{Shards: make([]Shard, 10)}
	for n := range m.Shards {
		m.Shards[n] = Shard{Shard: n, Owner: "a", State: "running"}
	}
	m.Shards[3] = Shard{Shard: 3, State: "unassigned", Error: "the reason"}
	m.Shards[9] = Shard{Shard: 9, Owner: "node-b", State: "remote"}
	var out strings.Builder
	require.NoError(t, m.Draw(&out))
	lines := strings.Split(out.String(), "\n")
	require.Regexp(t, `^ +0 ● a +1 ● a +2 ● a +3 ○ +4 ● a +5 ● a +6 ● a +7 ● a *$`, lines[0])
	require.Regexp(t, `^ +8 ● a +9 → node-b *$`, lines[1])
	require.Equal(t, []string{Legend, "shard 3: the reason", ""}, lines[2:])
	require.Equal(t, strings.Index(lines[0], "1 ●"), strings.Index(lines[1], "9 →"), "one below the other")
}

func TestEachStateHasASignOfItsOwn(t *testing.T) {
	for _, state := range []string{"unassigned", "opening", "running", "closing", "remote"} {
		require.Contains(t, Legend, Shard{State: state}.Sign()+" "+state)
	}
}
