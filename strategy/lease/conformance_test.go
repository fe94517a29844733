package lease_test

import (
	"context"
	"testing"
	"time"

	"github.com/slap-go/slap/strategy"
	"github.com/slap-go/slap/strategy/lease"
	"github.com/slap-go/slap/strategy/lease/leasemem"
	"github.com/slap-go/slap/strategy/strategytest"
)

func TestConformance(t *testing.T) {
	const backoff = 5 * time.Millisecond
	strategytest.Run(t, strategytest.Options{Backoff: backoff}, func(t *testing.T) strategy.Strategy {
		p := placement(t, leasemem.New(), "node", 3*time.Second)
		p.SetBackoff(backoff)
		return p
	})
}

// placement is a strategy of a node, with its leases in the store.
func placement(t *testing.T, s *leasemem.Store, node string, ttl time.Duration) *lease.Strategy {
	t.Helper()
	p, err := lease.New("lease", lease.Options{TTL: ttl}, func(context.Context, strategy.Runtime) (lease.Store, error) { return s.Node(node), nil })
	if err != nil {
		t.Fatal(err)
	}
	return p
}
