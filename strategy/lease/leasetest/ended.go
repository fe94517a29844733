package leasetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/slap-go/slap/strategy/lease"
)

// soon is how long a call may take whose context has ended.
const soon = 5 * time.Second

// checkEndedBefore makes calls whose context has ended: they say so, soon, and write nothing.
func checkEndedBefore(t *testing.T, s lease.Store) {
	r, h := record("a", 1), heartbeat("a")
	v, w := mustWrite(t, s, 1, "", r), mustBeat(t, s, "", h)
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	expired, cancel := context.WithDeadline(context.Background(), time.Unix(1, 0))
	defer cancel()
	for name, call := range calls(s, v, w) {
		for want, ctx := range map[error]context.Context{context.Canceled: cancelled, context.DeadlineExceeded: expired} {
			ended := make(chan error, 1)
			go func() { ended <- call(ctx) }()
			select {
			case err := <-ended:
				if !errors.Is(err, want) {
					t.Errorf("%s: %v, want %v", name, err, want)
				}
			case <-time.After(soon):
				t.Fatalf("%s does not return although its context has ended", name)
			}
		}
	}
	mustHold(t, s, 1, v, r)
	mustShow(t, s, w, h)
	mustLack(t, s, 2, "b")
}

// calls are the methods that take a context, as far as their errors go. Each would succeed.
func calls(s lease.Store, v, w lease.Version) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"Setup": s.Setup,
		"List": func(ctx context.Context) error {
			_, err := s.List(ctx)
			return err
		},
		"ReadLease": func(ctx context.Context) error {
			_, err := s.ReadLease(ctx, 1)
			return err
		},
		"ReadHeartbeat": func(ctx context.Context) error {
			_, err := s.ReadHeartbeat(ctx, "a")
			return err
		},
		"WriteLease, create": func(ctx context.Context) error {
			_, err := s.WriteLease(ctx, lease.Lease{Shard: 2, Record: record("b", 1)})
			return err
		},
		"WriteLease": func(ctx context.Context) error {
			_, err := s.WriteLease(ctx, lease.Lease{Shard: 1, Version: v, Record: record("b", 2)})
			return err
		},
		"Renew": func(ctx context.Context) (err error) {
			list := []lease.Lease{{Shard: 1, Version: v, Record: record("b", 2)}}
			s.Renew(ctx, list, func(_ int, _ lease.Version, e error) { err = e })
			return err
		},
		"WriteHeartbeat": func(ctx context.Context) error {
			_, err := s.WriteHeartbeat(ctx, lease.Beat{Version: w, Heartbeat: heartbeat("a")})
			return err
		},
		"WriteHeartbeat, create": func(ctx context.Context) error {
			_, err := s.WriteHeartbeat(ctx, lease.Beat{Heartbeat: heartbeat("b")})
			return err
		},
		"RemoveHeartbeat": func(ctx context.Context) error { return s.RemoveHeartbeat(ctx, "a") },
	}
}
