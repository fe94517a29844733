package actors

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/store/slatedb"
	"github.com/slap-go/slap/strategy"
	"github.com/slap-go/slap/supervision"
)

func lasting(d time.Duration) *strategy.Lease {
	return strategy.NewLease(1, strategy.Now()+strategy.Instant(d))
}

func TestP5_1_AShutGateLetsNothingInAndAnswersOut(t *testing.T) {
	g := &gate{status: &status{}, lease: lasting(time.Hour)}
	if err := g.enter(); err != nil || !g.open() {
		t.Fatalf("open: %v", err)
	}
	var drained []int
	g.onDrained(func() { drained = append(drained, 1) })
	g.close()
	if err := g.enter(); !errors.Is(err, messages.ErrStopping) || g.open() {
		t.Errorf("shut: %v", err)
	}
	if err := g.lets(false); err != nil || len(drained) > 0 {
		t.Errorf("an answer of what is inside: %v, drained %v", err, drained)
	}
	g.leave()
	g.onDrained(func() { drained = append(drained, 2) })
	if !slices.Equal(drained, []int{1, 2}) {
		t.Errorf("drained: %v", drained)
	}
}

func TestP5_1_APassedDeadlineIsFinalAndStopsAnswersToo(t *testing.T) {
	s := &status{}
	lease := lasting(-time.Second)
	g := &gate{status: s, lease: lease}
	if err := g.enter(); !errors.Is(err, messages.ErrStopping) || s.get() != Stopping {
		t.Errorf("%v, %v", err, s.get())
	}
	for _, proven := range []bool{false, true} {
		if err := g.lets(proven); !errors.Is(err, messages.ErrStopping) {
			t.Errorf("an answer: %v", err)
		}
	}
	if lease.Renew(strategy.Now()+strategy.Instant(time.Hour)) || g.open() {
		t.Error("a renewal opened it again")
	}
}

func TestP5_1_AfterAFenceOnlyWhatIsProvenLeaves(t *testing.T) {
	s := &status{}
	g := &gate{status: s}
	s.fenced()
	if err := g.enter(); !errors.Is(err, messages.ErrFenced) {
		t.Errorf("%v", err)
	}
	if err := g.lets(false); !errors.Is(err, messages.ErrFenced) {
		t.Errorf("an answer: %v", err)
	}
	if err := g.lets(true); err != nil {
		t.Errorf("a proven answer: %v", err)
	}
}

func TestP5_1_OfAllWhoEnterWhileItShutsEachIsWaitedFor(t *testing.T) {
	for range 200 {
		g := &gate{status: &status{}}
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for g.enter() == nil {
					g.leave()
				}
			})
		}
		done := make(chan struct{})
		g.onDrained(func() { close(done) })
		g.close()
		next(t, done)
		all.Wait()
		if n := g.inside.Load(); n != 0 {
			t.Fatalf("%d inside", n)
		}
	}
}

// TestP5_1 lets a lease run out while one request is in a child's hands and another waits:
// one that lasts until they are.
func TestP5_1_TheDeadlineRefusesWhatWaitsAndMakesWhatHasBegunUnknown(t *testing.T) {
	lasts := 500 * time.Millisecond
	for !runOut(t, lasts) && lasts < time.Minute {
		lasts *= 2
	}
}

// runOut says whether the lease lasted long enough.
func runOut(t *testing.T, lasts time.Duration) bool {
	t.Helper()
	entered, release := make(chan struct{}, 10), make(chan struct{})
	r := newRig(t, 1, store.Memory(), func(c *Config) {
		c.ShardChildren = func(*Shard) []supervision.ChildSpec {
			return []supervision.ChildSpec{child("a", func(c actor.Context) {
				if m, ok := c.Message().(*wrapperspb.StringValue); ok {
					if m.GetValue() == "hold" {
						entered <- struct{}{}
						<-release
					}
					c.Respond(m)
				}
			})}
		}
	})
	lease := lasting(lasts)
	r.hand.runtime.StartShard(0, lease, r.replyTo)
	if r.reply(); !lease.Valid() {
		return false
	}
	shard := r.shardAt(0)
	begun, waiting := make(chan error, 1), make(chan error, 1)
	ask := func(what string, result chan<- error) {
		_, err := r.Ask(t.Context(), 0, "a", word(what), Retry{})
		result <- err
	}
	defer close(release)
	go ask("hold", begun)
	r.eventually("it has begun", func() bool { return len(entered) > 0 || !lease.Valid() })
	go ask("echo", waiting)
	r.eventually("it waits", func() bool { return shard.inbox("a").waiting.Load() == 1 || !lease.Valid() })
	if !lease.Valid() {
		return false
	}
	r.eventually("the lease runs out", func() bool { return !lease.Valid() })
	if lease.Renew(strategy.Now() + strategy.Instant(time.Hour)) {
		t.Error("it was renewed")
	}
	if status := shard.Status(); status != Stopping {
		t.Errorf("the shard is %v", status)
	}
	release <- struct{}{}
	if err := next(t, begun); !errors.Is(err, messages.ErrOutcomeUnknown) {
		t.Errorf("begun: %v", err)
	}
	if err := next(t, waiting); !errors.Is(err, messages.ErrNotExecuted) {
		t.Errorf("waiting: %v", err)
	}
	if _, err := r.Ask(t.Context(), 0, "a", word("echo"), Retry{}); !errors.Is(err, messages.ErrNotExecuted) {
		t.Errorf("afterwards: %v", err)
	}
	r.mustShut(0)
	r.hand.runtime.StartShard(0, lasting(time.Hour), r.replyTo) // a new claim
	r.wantReply("started", 0, nil)
	if _, err := r.Ask(t.Context(), 0, "a", word("echo"), Retry{}); err != nil {
		t.Errorf("under a new claim: %v", err)
	}
	return true
}

// confirming is a child that answers with what it reads, once that is confirmed.
func confirming(shard *Shard) []supervision.ChildSpec {
	return []supervision.ChildSpec{child("a", func(c actor.Context) {
		if m, ok := c.Message().(*wrapperspb.StringValue); ok {
			value, _, err := shard.DB().Get(context.Background(), []byte(m.GetValue()), nil)
			if err != nil {
				c.Respond(err)
				return
			}
			shard.RespondWhenConfirmed(c, wrapperspb.Bytes(value))
		}
	})}
}

func TestP11_1_ConfirmedIsCurrentAndDurableAndShowsNothing(t *testing.T) {
	r := newRig(t, 1, store.Memory(), func(c *Config) { c.ShardChildren, c.FlushInterval = confirming, 20*time.Millisecond })
	r.mustOpen(0)
	shard := r.shardAt(0)
	for range 20 {
		seq := r.put(0, "k", "v")
		if err := shard.Confirm(t.Context()); err != nil || shard.DurableSeq() < seq {
			t.Fatalf("%v, durable %d after a write of %d", err, shard.DurableSeq(), seq)
		}
	}
	answer, err := r.Ask(t.Context(), 0, "a", word("k"), Retry{})
	if value, ok := answer.(*wrapperspb.BytesValue); err != nil || !ok || string(value.GetValue()) != "v" {
		t.Errorf("%v, %v", answer, err)
	}
	scan, err := shard.DB().Scan(t.Context(), slatedb.Range{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer scan.Close()
	var keys []string
	for scan.Next(t.Context()) {
		keys = append(keys, string(scan.Row().Key))
	}
	if err := scan.Err(); err != nil {
		t.Error(err)
	}
	if strings.Join(keys, " ") != "k" {
		t.Errorf("a scan shows %q", keys)
	}
}

// TestP11_1 reads from a shard that has been fenced and does not know it yet.
func TestP11_1_AStaleReadIsNeverConfirmed(t *testing.T) {
	r := newRig(t, 1, store.Memory(), func(c *Config) {
		unwatchful(c)
		c.ShardChildren = confirming
	})
	r.mustOpen(0)
	r.put(0, "k", "old")
	r.flushed(0)
	shard := r.shardAt(0)
	other, err := slatedb.Open(t.Context(), r.config.Objects, "shard-000", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Put(t.Context(), []byte("k"), []byte("new"), nil); err != nil {
		t.Fatal(err)
	}
	answer, err := r.Ask(t.Context(), 0, "a", word("k"), Retry{})
	if err == nil {
		t.Errorf("it answered %v", answer)
	}
	if err := shard.Confirm(t.Context()); !errors.Is(err, messages.ErrOutcomeUnknown) || !errors.Is(err, messages.ErrFenced) {
		t.Errorf("confirmed: %v", err)
	}
	if err := other.Close(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
}

// TestP11_1 counts the writes that serve many who wait at once.
func TestP11_1_OneWriteServesAllWhoWait(t *testing.T) {
	const callers = 1000
	r := newRig(t, 1, store.Memory(), func(c *Config) { c.FlushInterval = 50 * time.Millisecond })
	r.mustOpen(0)
	shard := r.shardAt(0)
	first := r.put(0, "k", "v")
	told := make(chan error, callers)
	for range callers {
		shard.confirm(waiter{tell: func(confirmed bool, reason error) {
			if confirmed {
				reason = nil
			}
			told <- reason
		}})
	}
	for range callers {
		if err := next(t, told); err != nil {
			t.Fatal(err)
		}
	}
	if n := r.put(0, "k", "v") - first - 1; n == 0 || n > callers/2 {
		t.Errorf("%d writes for %d callers", n, callers)
	}
}
