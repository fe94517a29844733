package actors

import (
	"context"
	"log/slog"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/slap-go/slap/internal/footprint"
	"github.com/slap-go/slap/store"
)

// TestSPEC10 opens and closes shards in a folder, where what is stored takes no memory:
// each on a database of its own, and each database again and again. The engine keeps the
// log of all openings until much is written, and reads it at each open, so that a database
// takes more time and memory with each; therefore their number is bounded here.
func TestSPEC10_ShardsThatComeAndGoLeaveNothingBehind(t *testing.T) {
	rounds := scaled(200, 1_000)
	for name, openings := range map[string]int{"fresh databases": 1, "databases that were there before": 25} {
		t.Run(name, func(t *testing.T) { comeAndGo(t, rounds, openings) })
	}
}

func comeAndGo(t *testing.T, rounds, openings int) {
	r := newRig(t, 2*rounds, store.Dir(t.TempDir()), func(c *Config) {
		c.ShardChildren, c.Logger = workers, slog.New(slog.DiscardHandler)
		c.Handlers = map[string]Handler{"confirm": confirmingCall}
	})
	for n := range rounds / 2 {
		r.useOnce(n / openings)
	}
	before := footprint.Of(t)
	for n := range rounds {
		r.useOnce((rounds/2 + n) / openings)
	}
	var after footprint.Usage
	r.eventually("goroutines and descriptors are as before", func() bool {
		after = footprint.Of(t)
		return after.Goroutines <= before.Goroutines && after.Descriptors <= before.Descriptors
	})
	if grown := int64(after.Memory) - int64(before.Memory); !raced && grown > max(int64(before.Memory)/20, 8<<20) {
		t.Errorf("%d bytes of memory grew by %d", before.Memory, grown)
	}
	if n := len(r.openings); n > 1 {
		t.Errorf("%d openings are remembered", n)
	}
	t.Logf("before %+v, after %+v", before, after)
}

// useOnce opens a shard, has it do one of everything, and closes it.
func (r *rig) useOnce(n int) {
	r.t.Helper()
	r.mustOpen(n)
	ask := func(child, what string) {
		if _, err := r.Ask(r.t.Context(), n, child, word(what), Retry{}); err != nil {
			r.t.Fatal(err)
		}
	}
	ask("a", "write")
	if _, err := r.Call(r.t.Context(), n, "confirm", word("k"), Retry{}); err != nil {
		r.t.Fatal(err)
	}
	shard := r.shardAt(n)
	for _, name := range []string{"guest", "left behind"} {
		spec := workers(shard)[0]
		spec.Name = name
		if _, err := shard.StartChild(r.t.Context(), spec); err != nil {
			r.t.Fatal(err)
		}
		ask(name, "echo")
	}
	if err := shard.StopChild(r.t.Context(), "guest"); err != nil {
		r.t.Fatal(err)
	}
	r.mustShut(n)
}

// confirmingCall reads, and answers once that is confirmed.
func confirmingCall(ctx context.Context, s *Shard, key proto.Message) (proto.Message, error) {
	if _, _, err := s.DB().Get(ctx, []byte("k"), nil); err != nil {
		return nil, err
	}
	return key, s.Confirm(ctx)
}
