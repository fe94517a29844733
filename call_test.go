package slap_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/store/slatedb"
)

// runs counts how often something ran, and answers as told.
type runs struct {
	atomic.Int64
	answer func(context.Context, *slap.Shard) (proto.Message, error)
}

func (r *runs) handle(ctx context.Context, shard *slap.Shard, _ proto.Message) (proto.Message, error) {
	r.Add(1)
	if r.answer == nil {
		return wrapperspb.String("done"), nil
	}
	return r.answer(ctx, shard)
}

// children is one that answers as the handler does.
func (r *runs) children(shard *slap.Shard) []slap.ChildSpec {
	return []slap.ChildSpec{{Name: "a", New: func() actor.Actor {
		return actor.ReceiveFunc(func(c actor.Context) {
			m, ok := c.Message().(*wrapperspb.StringValue)
			if !ok {
				return
			}
			answer, err := r.handle(context.Background(), shard, m)
			if err != nil {
				c.Respond(err)
				return
			}
			c.Respond(answer)
		})
	}}}
}

// ways are the two ways to have something run on a shard: its child "a" and the handler "a".
func ways(c *slap.Cluster, shard int) map[string]func(context.Context, ...slap.CallOption) error {
	request := wrapperspb.String("x")
	return map[string]func(context.Context, ...slap.CallOption) error{
		"Ask": func(ctx context.Context, o ...slap.CallOption) error {
			return errOf(c.Ask(ctx, shard, "a", request, o...))
		},
		"Call": func(ctx context.Context, o ...slap.CallOption) error {
			return errOf(c.Call(ctx, shard, "a", request, o...))
		},
	}
}

func handlers(h slap.Handler) map[string]slap.Handler { return map[string]slap.Handler{"a": h} }

func TestCALL1_AHandlerRunsWithItsShardBesideEverythingElse(t *testing.T) {
	children := newStubs()
	entered, release := make(chan struct{}, 10), make(chan struct{})
	cluster := startCluster(t, slap.Config{
		Store: store.Memory(), Shards: 3, ShardChildren: children.children,
		Handlers: map[string]slap.Handler{
			"where": func(ctx context.Context, s *slap.Shard, m proto.Message) (proto.Message, error) {
				if _, err := s.DB().Put(ctx, []byte("k"), []byte("v"), nil); err != nil {
					return nil, err
				}
				return wrapperspb.String(fmt.Sprint(s.Number(), m.(*wrapperspb.StringValue).GetValue())), nil
			},
			"wait": func(context.Context, *slap.Shard, proto.Message) (proto.Message, error) {
				entered <- struct{}{}
				<-release
				return wrapperspb.String("waited"), nil
			},
		},
	})
	defer stopCluster(t, cluster)
	waited := make(chan error, 3)
	for range cap(waited) { // of one shard, at once
		go func() { waited <- errOf(cluster.Call(within(t, time.Minute), 1, "wait", wrapperspb.String("x"))) }()
	}
	for range cap(waited) {
		receive(t, entered)
	}
	go func() { _ = errOf(cluster.Ask(within(t, time.Minute), 1, "a", wrapperspb.String("hold"))) }()
	receive(t, children.entered)
	for n := range 3 { // beside all of them
		answer, err := slap.Call[*wrapperspb.StringValue](within(t, time.Minute), cluster, n, "where", wrapperspb.String("!"))
		if want := fmt.Sprint(n, "!"); err != nil || answer.GetValue() != want {
			t.Errorf("%q, %v, want %s", answer.GetValue(), err, want)
		}
	}
	children.release <- struct{}{}
	close(release)
	for range cap(waited) {
		if err := receive(t, waited); err != nil {
			t.Error(err)
		}
	}
}

func TestCALL2_AnAnswerThatLooksLikeARoutingErrorIsTheApplicationsAndRunsOnce(t *testing.T) {
	for _, code := range []string{"no", "not_owner", "unassigned", slap.ErrNotOwner.Error()} {
		r := &runs{answer: func(context.Context, *slap.Shard) (proto.Message, error) {
			return nil, fmt.Errorf("wrapped: %w", &slap.AppError{Code: code, Message: "as told"})
		}}
		cluster := startCluster(t, slap.Config{Store: store.Memory(), Shards: 1, ShardChildren: r.children, Handlers: handlers(r.handle)})
		for way, run := range ways(cluster, 0) {
			r.Store(0)
			err := run(within(t, time.Minute))
			if !errors.Is(err, &slap.AppError{Code: code}) || errors.Is(err, slap.ErrNotExecuted) || errors.Is(err, slap.ErrOutcomeUnknown) ||
				errors.Is(err, slap.ErrNotOwner) {
				t.Errorf("%s: %s: %v", way, code, err)
			}
			if n := r.Load(); n != 1 {
				t.Errorf("%s: %s: it ran %d times", way, code, n)
			}
		}
		stopCluster(t, cluster)
	}
}

func TestCALL3_RoutingErrorsSayWhoOwnsTheShard(t *testing.T) {
	cluster, hand := runByHand(t, slap.Config{Store: store.Memory(), Shards: 1})
	for way, run := range ways(cluster, 0) {
		hand.elsewhere.Store(nil)
		if err := run(within(t, time.Minute), slap.WithRetryDelay(time.Millisecond)); !errors.Is(err, slap.ErrUnassigned) || !errors.Is(err, slap.ErrNotExecuted) {
			t.Errorf("%s: nobody's: %v", way, err)
		}
		other := "another"
		hand.elsewhere.Store(&other)
		err := run(within(t, time.Minute), slap.WithRetryDelay(time.Millisecond))
		var routing *slap.RequestError
		if !errors.As(err, &routing) || !errors.Is(err, slap.ErrNoConnection) || !errors.Is(err, slap.ErrNotExecuted) || routing.Node != other ||
			routing.Shard != 0 || routing.Target != "a" {
			t.Errorf("%s: another's: %+v", way, routing)
		}
	}
}

func TestCALL4_OnlyMovesAreTriedAgainEachAfterARefresh(t *testing.T) {
	r := &runs{}
	cluster, hand := runByHand(t, slap.Config{
		Store: store.Memory(), Shards: 2, ShardChildren: r.children, Handlers: handlers(r.handle), RetryDelay: time.Millisecond,
	})
	hand.open(1)
	for way, run := range ways(cluster, 0) {
		for _, c := range []struct {
			name    string
			options []slap.CallOption
			want    int32
		}{
			{"by default", nil, 3},
			{"never", []slap.CallOption{slap.WithRetries(0)}, 0},
			{"five times", []slap.CallOption{slap.WithRetries(5)}, 5},
		} {
			hand.refreshes.Store(0)
			if err := run(within(t, time.Minute), c.options...); !errors.Is(err, slap.ErrUnassigned) {
				t.Errorf("%s: %v", way, err)
			}
			if n := hand.refreshes.Load(); n != c.want {
				t.Errorf("%s: %s: %d refreshes, want %d", way, c.name, n, c.want)
			}
		}
		began := time.Now()
		_ = run(within(t, time.Minute), slap.WithRetries(1))
		if refresh := hand.refresh.Load(); refresh.deadline.Sub(began) < 5*time.Second || refresh.deadline.Sub(refresh.at) > 5*time.Second {
			t.Errorf("%s: a refresh has from %v to %v", way, refresh.at, refresh.deadline)
		}
		ctx := within(t, 4*time.Second)
		_ = run(ctx, slap.WithRetries(1))
		if own, _ := ctx.Deadline(); hand.refresh.Load().deadline.After(own) && ctx.Err() == nil {
			t.Errorf("%s: a refresh has until %v, after %v", way, hand.refresh.Load().deadline, own)
		}
	}
	hand.refreshes.Store(0)
	for name, err := range map[string]error{
		"no such shard":   errOf(cluster.Ask(t.Context(), 9, "a", wrapperspb.String("x"))),
		"no such child":   errOf(cluster.Ask(t.Context(), 1, "b", wrapperspb.String("x"))),
		"no such handler": errOf(cluster.Call(t.Context(), 1, "b", wrapperspb.String("x"))),
	} {
		if err == nil || hand.refreshes.Load() > 0 {
			t.Errorf("%s: %v, and %d refreshes", name, err, hand.refreshes.Load())
		}
	}
}

func TestCALL4_WhatIsTriedAgainFindsTheShardThatCame(t *testing.T) {
	r := &runs{}
	cluster, hand := runByHand(t, slap.Config{Store: store.Memory(), Shards: 1, ShardChildren: r.children, Handlers: handlers(r.handle)})
	for way, run := range ways(cluster, 0) {
		r.Store(0)
		hand.refreshes.Store(0)
		result := make(chan error, 1)
		go func() {
			result <- run(within(t, time.Minute), slap.WithRetries(1_000), slap.WithRetryDelay(time.Millisecond))
		}()
		eventually(t, "it was refused", func() bool { return hand.refreshes.Load() > 0 })
		hand.open(0)
		if err := receive(t, result); err != nil || r.Load() != 1 {
			t.Errorf("%s: %v, it ran %d times", way, err, r.Load())
		}
		hand.shut(0)
	}
}

// TestCALL6 has both ways end as unknown, of a kind that is tried again when nothing began.
func TestCALL6_WhatHasBegunIsNeverTriedAgain(t *testing.T) {
	r := &runs{answer: func(context.Context, *slap.Shard) (proto.Message, error) {
		return nil, fmt.Errorf("my write: %w", slatedb.ErrFenced)
	}}
	cluster := startCluster(t, slap.Config{
		Store: store.Memory(), Shards: 1, ShardChildren: r.children, Handlers: handlers(r.handle), RetryDelay: time.Millisecond,
	})
	defer stopCluster(t, cluster)
	for way, run := range ways(cluster, 0) {
		r.Store(0)
		if err := run(within(t, time.Minute)); !errors.Is(err, slap.ErrOutcomeUnknown) || !errors.Is(err, slap.ErrFenced) || r.Load() != 1 {
			t.Errorf("%s: %v, it ran %d times", way, err, r.Load())
		}
	}
}

func TestCALL8_OneDeadlineBoundsTheWholeWay(t *testing.T) {
	cluster, _ := runByHand(t, slap.Config{Store: store.Memory(), Shards: 1, CallTimeout: 50 * time.Millisecond, RetryDelay: time.Minute})
	for way, run := range ways(cluster, 0) {
		for _, name := range []string{"its own", "CallTimeout"} {
			err := longEnough(t, slap.ErrUnassigned, func(own context.Context, limit time.Duration) error {
				began, ctx := time.Now(), context.Background()
				if name == "its own" {
					ctx = own
				} else {
					limit = 50 * time.Millisecond
				}
				err := run(ctx)
				took(t, way, began, limit)
				if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, slap.ErrTimeout) || !errors.Is(err, slap.ErrNotExecuted) {
					t.Errorf("%s: %s: %v", way, name, err)
				}
				return err
			})
			if !errors.Is(err, slap.ErrUnassigned) { // the last thing that was found
				t.Errorf("%s: %s: %v does not say why", way, name, err)
			}
		}
	}
}

func TestCALL8_TheDefaultDeadlineReachesTheHandler(t *testing.T) {
	left := make(chan time.Duration, 10)
	r := &runs{answer: func(ctx context.Context, _ *slap.Shard) (proto.Message, error) {
		deadline, ok := ctx.Deadline()
		if !ok {
			return nil, errors.New("there is none")
		}
		left <- time.Until(deadline)
		return wrapperspb.String("done"), nil
	}}
	cluster := startCluster(t, slap.Config{Store: store.Memory(), Shards: 1, Handlers: handlers(r.handle)})
	defer stopCluster(t, cluster)
	for ctx, most := range map[context.Context]time.Duration{context.Background(): 30 * time.Second, within(t, time.Hour): time.Hour} {
		if _, err := cluster.Call(ctx, 0, "a", wrapperspb.String("x")); err != nil {
			t.Fatal(err)
		}
		if d := receive(t, left); d > most || d < most-20*time.Second {
			t.Errorf("%v left of %v", d, most)
		}
	}
}

func TestCALL9_AfterItsDeadlineNothingRuns(t *testing.T) {
	r := &runs{}
	cluster := startCluster(t, slap.Config{Store: store.Memory(), Shards: 1, ShardChildren: r.children, Handlers: handlers(r.handle)})
	defer stopCluster(t, cluster)
	past, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	for way, run := range ways(cluster, 0) {
		if err := run(past); !errors.Is(err, slap.ErrNotExecuted) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", way, err)
		}
		if err := run(ended()); !errors.Is(err, slap.ErrNotExecuted) || !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", way, err)
		}
	}
	if err := cluster.Tell(ended(), 0, "a", wrapperspb.String("x")); !errors.Is(err, slap.ErrNotExecuted) {
		t.Errorf("Tell: %v", err)
	}
	if err := ways(cluster, 0)["Ask"](within(t, time.Minute)); err != nil || r.Load() != 1 { // what came before would have run before
		t.Errorf("%v, %d runs, want this one", err, r.Load())
	}
}

func TestCALL10_ArgumentsAreCheckedBeforeAnythingIsSent(t *testing.T) {
	r := &runs{}
	cluster, hand := runByHand(t, slap.Config{Store: store.Memory(), Shards: 2, ShardChildren: r.children, Handlers: handlers(r.handle)})
	hand.open(0)
	x := wrapperspb.String("x")
	var typedNil *wrapperspb.StringValue
	for _, c := range []struct {
		name    string
		shard   int
		message proto.Message
		option  slap.CallOption
		says    string
	}{
		{"a shard below 0", -1, x, slap.WithRetries(1), "0 to 1"},
		{"a shard too many", 2, x, slap.WithRetries(1), "0 to 1"},
		{"no message", 0, nil, slap.WithRetries(1), "message"},
		{"a nil message", 0, typedNil, slap.WithRetries(1), "message"},
		{"negative retries", 0, x, slap.WithRetries(-1), "WithRetries"},
		{"a negative delay", 0, x, slap.WithRetryDelay(-1), "WithRetryDelay"},
	} {
		for way, err := range map[string]error{
			"Ask":  errOf(cluster.Ask(t.Context(), c.shard, "a", c.message, c.option)),
			"Call": errOf(cluster.Call(t.Context(), c.shard, "a", c.message, c.option)),
			"Tell": cluster.Tell(t.Context(), c.shard, "a", c.message, c.option),
		} {
			if !errors.Is(err, slap.ErrInvalid) || !errors.Is(err, slap.ErrNotExecuted) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %s: %v does not say %q", way, c.name, err, c.says)
			}
		}
	}
	if n := hand.refreshes.Load() + int32(r.Load()); n > 0 {
		t.Errorf("%d runs and refreshes", n)
	}
}

// TestCALL11 asks an owner that serves the shard no more.
func TestCALL11_AnOwnerThatServesTheShardNoMoreSaysSo(t *testing.T) {
	s, children := store.Memory(), newHeld()
	r := &runs{}
	cluster, hand := runByHand(t, slap.Config{
		Store: s, Shards: 2, ShardChildren: children.children, Handlers: handlers(r.handle),
		Settings: map[string]any{"manifest_poll_interval": "20ms"}, DrainTimeout: 10 * time.Millisecond,
	})
	hand.open(0, 1)
	children.stop = make(chan struct{})
	fence(t, s, "shard-000")
	hand.end(1)
	for range 2 {
		receive(t, children.stopping)
	}
	for shard, kind := range []error{slap.ErrFenced, slap.ErrStopping} {
		for way, run := range ways(cluster, shard) {
			err := run(within(t, time.Minute), slap.WithRetries(0))
			gone := way == "Ask" && errors.Is(err, slap.ErrStopping) // its child is, whatever the reason
			if !errors.Is(err, kind) && !gone || !errors.Is(err, slap.ErrNotExecuted) {
				t.Errorf("%s: shard %d: %v, want %v", way, shard, err, kind)
			}
		}
	}
	if r.Load() > 0 {
		t.Errorf("it ran %d times", r.Load())
	}
	close(children.stop)
	hand.closed(1)
	receive(t, hand.downs)
	receive(t, hand.downs)
}

func TestCALL12_AHandlerThatFailsLeavesTheOutcomeUnknownAndHarmsNobody(t *testing.T) {
	mine := errors.New("as told")
	r := &runs{}
	cluster := startCluster(t, slap.Config{Store: store.Memory(), Shards: 1, Handlers: handlers(r.handle)})
	defer stopCluster(t, cluster)
	at, err := cluster.Lookup(0)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		answer func(context.Context, *slap.Shard) (proto.Message, error)
		kind   error
	}{
		{"an error", func(context.Context, *slap.Shard) (proto.Message, error) { return nil, mine }, slap.ErrChildFailed},
		{"a panic", func(context.Context, *slap.Shard) (proto.Message, error) { panic("as told") }, slap.ErrPanicked},
		{"the end of its goroutine", func(context.Context, *slap.Shard) (proto.Message, error) { runtime.Goexit(); return nil, nil }, slap.ErrPanicked},
		{"nothing", func(context.Context, *slap.Shard) (proto.Message, error) { return nil, nil }, slap.ErrWrongAnswer},
	} {
		r.Store(0)
		r.answer = c.answer
		_, err := cluster.Call(within(t, time.Minute), 0, "a", wrapperspb.String("x"))
		if !errors.Is(err, slap.ErrOutcomeUnknown) || !errors.Is(err, c.kind) || r.Load() != 1 {
			t.Errorf("%s: %v, it ran %d times", c.name, err, r.Load())
		}
		if c.kind == slap.ErrChildFailed && !errors.Is(err, mine) {
			t.Errorf("%s: %v is not %v", c.name, err, mine)
		}
	}
	r.answer = nil
	if _, err := cluster.Call(within(t, time.Minute), 0, "a", wrapperspb.String("x")); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	if now, err := cluster.Lookup(0); err != nil || now != at {
		t.Errorf("the shard was opened anew: %v, %v", now, err)
	}
}

func TestCALL14_AShardStoppedByHandIsUnassignedAfterTheRetries(t *testing.T) {
	r := &runs{}
	cluster, hand := runByHand(t, slap.Config{
		Store: store.Memory(), Shards: 1, ShardChildren: r.children, Handlers: handlers(r.handle), RetryDelay: time.Millisecond,
	})
	hand.open(0)
	hand.shut(0)
	for way, run := range ways(cluster, 0) {
		hand.refreshes.Store(0)
		if err := run(within(t, time.Minute)); !errors.Is(err, slap.ErrUnassigned) || hand.refreshes.Load() != slap.DefaultRetries {
			t.Errorf("%s: %v after %d refreshes", way, err, hand.refreshes.Load())
		}
	}
	if r.Load() > 0 {
		t.Errorf("it ran %d times", r.Load())
	}
}
