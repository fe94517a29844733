package journal

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/messages"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func fenced(shard int) slap.ShardFenced {
	return slap.ShardFenced{ShardOrigin: slap.ShardOrigin{Origin: slap.Origin{Cluster: "c", Time: time.Unix(int64(shard), 0)}, Shard: shard}}
}

func TestAnEventIsShownWithItsDetails(t *testing.T) {
	var j Journal
	require.NotNil(t, j.Entries(), "an empty list in JSON")
	j.Follow(slices.Values([]slap.Event{fenced(3)}))
	require.Len(t, j.Entries(), 1)
	e := j.Entries()[0]
	require.Equal(t, "shard.fenced", e.Name)
	require.Equal(t, "ERROR", e.Level)
	require.Contains(t, e.Text, "shard 3 was fenced")
	require.Equal(t, "3", e.Details["shard"])
	require.Equal(t, int64(3), e.Time.Unix())
}

func TestWhatHappensAllTheTimeIsLeftOut(t *testing.T) {
	var j Journal
	j.Follow(slices.Values([]slap.Event{slap.DurabilityLag{}, messages.CallRemote{}, messages.CallNotOwner{}, slap.SupervisorEvent{Minor: true}, fenced(1), slap.EventsMissed{Count: 2}}))
	require.Len(t, j.Entries(), 2)
	require.Equal(t, "events.missed", j.Entries()[1].Name)
}

func TestOnlyTheNewestAreKept(t *testing.T) {
	var j Journal
	for n := range size + 5 {
		j.Follow(slices.Values([]slap.Event{fenced(n)}))
	}
	entries := j.Entries()
	require.Len(t, entries, size)
	require.Equal(t, "5", entries[0].Details["shard"])
	require.Equal(t, fmt.Sprint(size+4), entries[size-1].Details["shard"])
}
