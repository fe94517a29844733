package slap_test

import (
	"context"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/strategy"
)

// confirmAndCount confirms, and tells how far the shard's writes have come.
func confirmAndCount(ctx context.Context, shard *slap.Shard, _ *wrapperspb.StringValue) (*wrapperspb.UInt64Value, error) {
	if err := shard.Confirm(ctx); err != nil {
		return nil, err
	}
	return wrapperspb.UInt64(shard.WrittenSeq()), nil
}

func TestP11_2_ConfirmationsWriteUnlessLeaseReadsAreAskedFor(t *testing.T) {
	for name, leaseReads := range map[string]bool{"by default": false, "with LeaseReads": true} {
		t.Run(name, func(t *testing.T) {
			cluster, h := runByHand(t, slap.Config{
				Store: store.Memory(), Shards: 1, LeaseReads: leaseReads,
				Handlers: map[string]slap.Handler{"confirm": slap.Handle(confirmAndCount)},
			})
			h.runtime.StartShard(0, strategy.NewLease(1, strategy.Now().Add(time.Hour)), h.self.Load())
			if m, ok := receive(t, h.replies).(*strategy.Started); !ok || m.Err != nil {
				t.Fatalf("%+v", m)
			}
			var seqs []uint64
			for range 3 {
				seq, err := slap.Call[*wrapperspb.UInt64Value](within(t, time.Minute), cluster, 0, "confirm", wrapperspb.String(""))
				if err != nil {
					t.Fatal(err)
				}
				seqs = append(seqs, seq.GetValue())
			}
			if wrote := seqs[2] > seqs[0]; wrote == leaseReads {
				t.Errorf("the sequence numbers are %v", seqs)
			}
		})
	}
}
