package leasemem_test

import (
	"testing"

	"github.com/slap-go/slap/strategy/lease"
	"github.com/slap-go/slap/strategy/lease/leasemem"
	"github.com/slap-go/slap/strategy/lease/leasetest"
)

// Without rules, and with those that only hold up what is let go, it is a store like any other.
func TestLL24_Conformance(t *testing.T) {
	leasetest.Run(t, func(*testing.T) lease.Store { return leasemem.New().Node("a") })
	gate := leasemem.NewGate()
	gate.Open()
	for name, fault := range map[string]leasemem.Fault{
		"before": gate.Before(), "after": gate.After(), "late": gate.Late(), "delay": leasemem.Delay(0), "omit": leasemem.Omit(nil, nil),
	} {
		t.Run(name, func(t *testing.T) {
			leasetest.Run(t, func(*testing.T) lease.Store {
				s := leasemem.New()
				s.Inject(leasemem.Rule{Fault: fault})
				return s.Node("a")
			})
		})
	}
}
