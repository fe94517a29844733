package slap_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/store"
)

// TestSPEC4 has an error that names the children as long as they are few.
func TestSPEC4_ManyChildrenDoNotMakeALongError(t *testing.T) {
	start := func(ctx context.Context, shard *slap.Shard, count *wrapperspb.Int64Value) (*wrapperspb.Int64Value, error) {
		for i := range count.GetValue() {
			if _, err := shard.StartChild(ctx, echo(fmt.Sprintf("guest-%d-of-%d", i, count.GetValue()))); err != nil {
				return nil, err
			}
		}
		return count, nil
	}
	c := startCluster(t, slap.Config{Store: store.Memory(), Shards: 1, Handlers: handlers(slap.Handle(start))})
	defer stopCluster(t, c)
	ctx := within(t, time.Minute)
	for _, step := range []struct {
		more int64
		want string
	}{{2, `it has ["guest-0-of-2" "guest-1-of-2"]`}, {1_000, "it has 1002 others"}} {
		if _, err := c.Call(ctx, 0, "a", wrapperspb.Int64(step.more)); err != nil {
			t.Fatal(err)
		}
		err := errOf(c.Ask(ctx, 0, "gone", wrapperspb.String("x")))
		if !errors.Is(err, slap.ErrNoChild) || !strings.Contains(err.Error(), step.want) {
			t.Errorf("%v", err)
		}
	}
}
