package local

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/slap-go/slap/strategy"
	"github.com/slap-go/slap/strategy/strategytest"
)

func TestConformance(t *testing.T) {
	for name, o := range map[string]Options{"all": {}, "some": {Shards: strategy.Shards{5, 2, 7}}, "two at a time": {MaxConcurrency: 2}} {
		t.Run(name, func(t *testing.T) {
			o.BackoffBase, o.BackoffMax = 5*time.Millisecond, 20*time.Millisecond
			strategytest.Run(t, strategytest.Options{Backoff: o.BackoffBase}, func(t *testing.T) strategy.Strategy {
				return mustNew(t, o)
			})
		})
	}
}

func mustNew(t *testing.T, o Options) *Local {
	t.Helper()
	l, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
