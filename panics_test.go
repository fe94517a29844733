package slap_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/store"
)

func TestSPEC7_AGoroutineOfTheStrategyThatPanicsEndsTheNode(t *testing.T) {
	t.Parallel()
	h := newHand(t)
	c := newCluster(t, slap.Config{Store: store.Memory(), Shards: 1, Strategy: h})
	if err := c.Start(within(t, time.Minute)); err != nil {
		t.Fatal(err)
	}
	h.runtime.Go(func(context.Context) { panic("as told") })
	receive(t, c.Done())
	if err := c.Err(); err == nil || !strings.Contains(err.Error(), "Strategy panicked: as told") {
		t.Errorf("it ended with %v", err)
	}
	_ = c.Stop(within(t, time.Minute))
}
