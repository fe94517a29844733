package slap_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/store"
	"github.com/slap-go/slap/store/slatedb"
	"github.com/slap-go/slap/supervision"
)

// stub is a child that does what the message says.
type stub struct {
	shard   *slap.Shard
	entered chan struct{} // one for each "hold" and "silent" that has begun
	release chan struct{} // ends one "hold"
}

func (s *stub) Receive(ctx actor.Context) {
	m, ok := ctx.Message().(*wrapperspb.StringValue)
	if !ok {
		return
	}
	switch m.GetValue() {
	case "echo":
		ctx.Respond(m)
	case "panic":
		panic("as told")
	case "no":
		ctx.Respond(&slap.AppError{Code: "no", Message: "as told"})
	case "odd":
		ctx.Respond("not a message")
	case "silent":
		s.entered <- struct{}{}
	case "hold":
		s.entered <- struct{}{}
		<-s.release
		ctx.Respond(m)
	case "stop":
		ctx.Stop(ctx.Self())
	}
}

type stubs struct {
	entered, release chan struct{}
}

func newStubs() *stubs {
	return &stubs{entered: make(chan struct{}, 100), release: make(chan struct{}, 100)}
}

func (s *stubs) children(shard *slap.Shard) []slap.ChildSpec {
	fresh := func() actor.Actor { return &stub{shard, s.entered, s.release} }
	return []slap.ChildSpec{{Name: "a", New: fresh}, {Name: "b", New: fresh}}
}

func say(ctx context.Context, c *slap.Cluster, child, word string) error {
	_, err := c.Ask(ctx, 0, child, wrapperspb.String(word))
	return err
}

func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func TestP8_2_EveryErrorSaysWhetherTheRequestRan(t *testing.T) {
	s := newStubs()
	cluster := startCluster(t, slap.Config{Store: store.Memory(), Shards: 1, ShardChildren: s.children})
	defer stopCluster(t, cluster)
	ctx := within(t, time.Minute)
	for _, c := range []struct {
		name  string
		err   error
		class error
		kind  error
	}{
		{"a shard that does not exist", errOf(cluster.Ask(ctx, 1, "a", wrapperspb.String("echo"))), slap.ErrNotExecuted, slap.ErrInvalid},
		{"no message", errOf(cluster.Ask(ctx, 0, "a", nil)), slap.ErrNotExecuted, slap.ErrInvalid},
		{"a child that does not exist", say(ctx, cluster, "c", "echo"), slap.ErrNotExecuted, slap.ErrNoChild},
		{"a context that has ended", say(ended(), cluster, "a", "echo"), slap.ErrNotExecuted, slap.ErrTimeout},
		{"a panic", say(ctx, cluster, "a", "panic"), slap.ErrOutcomeUnknown, slap.ErrPanicked},
		{"an answer that is no message", say(ctx, cluster, "a", "odd"), slap.ErrOutcomeUnknown, slap.ErrWrongAnswer},
		{"a child that stops instead of answering", say(ctx, cluster, "a", "stop"), slap.ErrOutcomeUnknown, slap.ErrChildStopped},
		{"a child that does not answer", longEnough(t, slap.ErrOutcomeUnknown, func(ctx context.Context, _ time.Duration) error {
			return say(ctx, cluster, "b", "silent")
		}), slap.ErrOutcomeUnknown, slap.ErrTimeout},
	} {
		if !errors.Is(c.err, c.class) || !errors.Is(c.err, c.kind) {
			t.Errorf("%s: %v, want %v and %v", c.name, c.err, c.class, c.kind)
		}
		if errors.Is(c.err, slap.ErrNotExecuted) && errors.Is(c.err, slap.ErrOutcomeUnknown) {
			t.Errorf("%s: %v is of both classes", c.name, c.err)
		}
	}
	if err := say(ctx, cluster, "a", "no"); !errors.Is(err, &slap.AppError{Code: "no"}) || errors.Is(err, slap.ErrOutcomeUnknown) {
		t.Errorf("an application's no: %v", err)
	}
	if err := say(ctx, cluster, "a", "echo"); err != nil {
		t.Errorf("after all that: %v", err)
	}
}

// longEnough runs something with ever longer limits until its error is of the kind: a short
// one may pass before anything has begun.
func longEnough(t *testing.T, kind error, run func(ctx context.Context, limit time.Duration) error) (err error) {
	t.Helper()
	for limit := 50 * time.Millisecond; limit < 20*time.Second && !errors.Is(err, kind); limit *= 2 {
		err = run(within(t, limit), limit)
	}
	return err
}

func errOf(_ any, err error) error { return err }

func ended() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func TestP8_1_WaitingIsNotExecutedBegunIsUnknown(t *testing.T) {
	s := newStubs()
	cluster := startCluster(t, slap.Config{Store: store.Memory(), Shards: 1, ShardChildren: s.children, MaxPending: 2})
	defer stopCluster(t, cluster)
	ctx, cancel := context.WithCancel(t.Context())
	begun, waiting := make(chan error, 1), make(chan error, 2)
	go func() { begun <- say(ctx, cluster, "a", "hold") }()
	<-s.entered
	for range 2 {
		go func() {
			err := slap.ErrOverloaded
			for errors.Is(err, slap.ErrOverloaded) { // while the one below has the place
				err = say(ctx, cluster, "a", "echo")
			}
			waiting <- err
		}()
	}
	var overloaded error
	eventually(t, "both wait", func() bool {
		overloaded = say(within(t, 10*time.Millisecond), cluster, "a", "echo")
		return errors.Is(overloaded, slap.ErrOverloaded)
	})
	if !errors.Is(overloaded, slap.ErrNotExecuted) {
		t.Errorf("overloaded: %v", overloaded)
	}
	cancel()
	for range 2 {
		if err := <-waiting; !errors.Is(err, slap.ErrNotExecuted) || !errors.Is(err, context.Canceled) {
			t.Errorf("waiting: %v", err)
		}
	}
	if err := <-begun; !errors.Is(err, slap.ErrOutcomeUnknown) || !errors.Is(err, context.Canceled) {
		t.Errorf("begun: %v", err)
	}
	s.release <- struct{}{}
	if err := say(within(t, time.Minute), cluster, "a", "echo"); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

func TestSPEC4_APanicHarmsNoSiblingAndTooManyReopenTheShard(t *testing.T) {
	s := newStubs()
	cluster := startCluster(t, slap.Config{Store: store.Memory(), Shards: 2, ShardChildren: s.children})
	defer stopCluster(t, cluster)
	held := make(chan error, 1)
	go func() { held <- say(t.Context(), cluster, "b", "hold") }()
	<-s.entered
	if err := say(within(t, time.Minute), cluster, "a", "panic"); !errors.Is(err, slap.ErrPanicked) {
		t.Fatal(err)
	}
	s.release <- struct{}{}
	if err := <-held; err != nil {
		t.Fatalf("the sibling's request: %v", err)
	}
	for range 4 { // one more than a supervisor allows in five seconds
		_ = say(within(t, time.Minute), cluster, "a", "panic")
	}
	if _, err := cluster.Ask(within(t, time.Minute), 1, "a", wrapperspb.String("echo")); err != nil {
		t.Errorf("the other shard: %v", err)
	}
	eventually(t, "the shard is open again", func() bool {
		return say(within(t, time.Second), cluster, "a", "echo") == nil
	})
}

func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within 30 s: %s", what)
		}
	}
}

func keyOf(i int) string { return string(rune('a' + i)) }

// fence opens a shard's database from outside, as a second writer would.
func fence(t *testing.T, s store.Store, path string) {
	t.Helper()
	ctx := within(t, time.Minute)
	objects, err := slatedb.NewObjectStore(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	db, err := slatedb.Open(ctx, objects, path, nil)
	for errors.Is(err, slatedb.ErrFenced) { // by a shard that opened at the same time
		db, err = slatedb.Open(ctx, objects, path, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(ctx, nil); err != nil && !errors.Is(err, slatedb.ErrClosed) { // it may have been fenced in turn
		t.Fatal(err)
	}
	if err := objects.Close(ctx); err != nil {
		t.Fatal(err)
	}
}

// stubborn keeps its request and does not stop until it is released.
type stubborn struct{ entered, release chan struct{} }

func (s *stubborn) Receive(ctx actor.Context) {
	switch ctx.Message().(type) {
	case *wrapperspb.StringValue:
		s.entered <- struct{}{}
	case *actor.Stopping:
		<-s.release
	}
}

func TestSPEC4_AChildThatHangsInItsStopHoldsUpNobody(t *testing.T) {
	child := &stubborn{make(chan struct{}, 1), make(chan struct{})}
	cluster := startCluster(t, slap.Config{
		Store: store.Memory(), Shards: 1, DrainTimeout: 10 * time.Millisecond,
		ShardChildren: func(*slap.Shard) []slap.ChildSpec {
			return []slap.ChildSpec{{Name: "a", Shutdown: 10 * time.Millisecond, New: func() actor.Actor { return child }}}
		},
	})
	held := make(chan error, 1)
	go func() { held <- say(within(t, time.Minute), cluster, "a", "keep") }()
	<-child.entered
	stopped := make(chan error, 1)
	go func() { stopped <- cluster.Stop(within(t, time.Minute)) }()
	if err := <-held; !errors.Is(err, slap.ErrOutcomeUnknown) || !errors.Is(err, slap.ErrChildStopped) {
		t.Errorf("its request: %v", err)
	}
	if err := <-stopped; err == nil {
		t.Error("the stop says nothing of the child that it left behind")
	} else if !errors.As(err, new(*supervision.AbandonedError)) {
		t.Errorf("the stop: %v", err)
	}
	close(child.release)
	<-cluster.Done()
}

func TestP8_2_AClusterThatIsNotRunningSaysSo(t *testing.T) {
	cluster, err := slap.New(slap.Config{Store: store.Memory(), Shards: 1})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(when string) {
		t.Helper()
		if err := say(t.Context(), cluster, "a", "echo"); !errors.Is(err, slap.ErrNotExecuted) || !errors.Is(err, slap.ErrNotRunning) {
			t.Errorf("%s: %v", when, err)
		}
	}
	ask("before the start")
	if err := cluster.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := cluster.Start(t.Context()); err == nil {
		t.Error("started twice")
	}
	stopCluster(t, cluster)
	ask("after the stop")
	stopCluster(t, cluster)
	if err := cluster.Start(t.Context()); err == nil {
		t.Error("started after the stop")
	}
}
