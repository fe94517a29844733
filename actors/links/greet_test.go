package links

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/slap-go/slap/internal/relay"
	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/strategy"
)

func TestP7_1_GreetingsSayWhoIsThere(t *testing.T) {
	a, b := startNode(t, "a"), startNode(t, "b")
	eventually(t, func() error {
		who, err := a.Greet(t.Context(), b.Self().Address)
		if err == nil && who != b.Self() {
			t.Errorf("%+v", who)
		}
		return err
	})
	other := startNode(t, "other", func(c *Config) { c.Cluster = "another cluster" })
	eventually(t, func() error {
		_, err := a.Greet(t.Context(), other.Self().Address)
		if err == nil || errors.Is(err, strategy.ErrNobody) || !strings.Contains(err.Error(), "node other belongs to another cluster") {
			return fmt.Errorf("another cluster: %w", err)
		}
		return nil
	})
	_, err := a.ask(t.Context(), other.Self(), "x")
	wantError(t, err, messages.ErrNotExecuted, messages.ErrNoConnection, "other")
	if other.served.Load() != 0 {
		t.Error("served for another cluster")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.Greet(ctx, b.Self().Address); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v", err)
	}
}

func TestP6_1_NobodyAndSilenceAreTwoThings(t *testing.T) {
	t.Parallel()
	a := startNode(t, "a")
	eventually(t, func() error {
		if _, err := a.Greet(t.Context(), nobody); !errors.Is(err, strategy.ErrNobody) {
			return fmt.Errorf("nobody: %w", err)
		}
		return nil
	})
	began := time.Now()
	_, err := a.Greet(t.Context(), silentAddress(t))
	if err == nil || errors.Is(err, strategy.ErrNobody) {
		t.Errorf("silence: %v", err)
	}
	if took := time.Since(began); took < dialAtMost || took > 10*dialAtMost {
		t.Errorf("it took %v", took)
	}
	_, err = a.Greet(t.Context(), "no.such.host.invalid:1")
	if err == nil || errors.Is(err, strategy.ErrNobody) {
		t.Errorf("no host: %v", err)
	}
}

func TestP6_1_ANodeDialsItself(t *testing.T) {
	t.Parallel()
	a, b := startNode(t, "a"), startNode(t, "b")
	eventually(t, func() error { return a.DialSelf(t.Context()) })
	for what, advertised := range map[string]string{"another node": b.Self().Address, "nobody": nobody, "silence": silentAddress(t)} {
		wrong := startNode(t, "wrong", func(c *Config) { c.Advertise = advertised })
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		err := wrong.DialSelf(ctx)
		cancel()
		if err == nil || !strings.Contains(err.Error(), "Advertise "+advertised) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// What else may listen is no node: whoever speaks another protocol, or none.
func TestP7_1_OtherProtocolsAreRefused(t *testing.T) {
	a := startNode(t, "a")
	peer := newRawPeer(t, a.Self().Address)
	for _, c := range []struct {
		hello *messages.Hello
		want  string
	}{
		{nil, "no greeting"},
		{&messages.Hello{Cluster: "the cluster", Node: "x", Incarnation: "i", Protocol: Protocol + 1}, "protocol"},
		{&messages.Hello{Cluster: "x", Node: "x", Incarnation: "i", Protocol: Protocol}, "another cluster"},
		{&messages.Hello{Cluster: "the cluster", Node: "x", Protocol: Protocol}, "incarnation"},
	} {
		stream := peer.stream(t)
		answer := stream.exchange(t, &messages.Frames{Hello: c.hello})
		if reason := answer.GetRefusal().GetReason(); !strings.Contains(reason, c.want) {
			t.Errorf("%v: refused with %q", c.hello, reason)
		}
	}
}

func TestP7_1_APortThatIsTakenIsOneClearError(t *testing.T) {
	l := listenLoopback(t)
	defer l.Close()
	_, err := tryNode("a", func(c *Config) { c.Listen = l.Addr().String() })
	if err == nil || !strings.HasPrefix(err.Error(), "Listen "+l.Addr().String()) || strings.Count(err.Error(), "\n") > 0 {
		t.Errorf("%v", err)
	}
	for _, listen := range []string{"x", "127.0.0.1:x", "127.0.0.1:70000"} {
		if _, err := tryNode("a", func(c *Config) { c.Listen = listen }); err == nil || !strings.HasPrefix(err.Error(), fmt.Sprintf("Listen %q", listen)) {
			t.Errorf("%s: %v", listen, err)
		}
	}
	if _, err := tryNode("a", func(c *Config) { c.Listen = "0.0.0.0:0" }); err == nil || !strings.HasPrefix(err.Error(), "Advertise is required") {
		t.Errorf("%v", err)
	}
}

// CALL-7: a call waits for a connection for a second at most, and the try goes on.
func TestCALL7_AConnectionIsWaitedForASecond(t *testing.T) {
	t.Parallel()
	a, b := startNode(t, "a"), startNode(t, "b")
	silent := strategy.Node{Name: "silent", Address: silentAddress(t)}
	began := time.Now()
	_, err := a.ask(t.Context(), silent, "x")
	wantError(t, err, messages.ErrNotExecuted, messages.ErrNoConnection, "silent")
	if took := time.Since(began); took < dialAtMost-50*time.Millisecond || took > 10*dialAtMost {
		t.Errorf("it took %v", took)
	}
	// Less if there is less time.
	_, err = a.Do(t.Context(), 50*time.Millisecond, strategy.Node{Name: "silent too", Address: silent.Address},
		request(messages.Way_WAY_ASK, wrapperspb.String("x")))
	wantError(t, err, messages.ErrNotExecuted, messages.ErrNoConnection, "silent too")
	if !strings.Contains(err.Error(), notYet(50*time.Millisecond).Error()) {
		t.Errorf("with 50 ms: %v", err)
	}
	eventually(t, func() error { return connectLate(t, a, b) })
	if b.served.Load() != 0 {
		t.Error("what was not executed was served")
	}
}

// connectLate has a peer that answers late: it is connected to, although no call has waited
// for that, unless it is too late for the try.
func connectLate(t *testing.T, a, b *node) error {
	t.Helper()
	p := relay.Start(t, b.Self().Address)
	p.Hold()
	to := strategy.Node{Name: "b", Address: p.Address()}
	if _, err := a.Do(t.Context(), 10*time.Millisecond, to, request(messages.Way_WAY_ASK, wrapperspb.String("x"))); err == nil {
		t.Error("answered through a proxy that holds all")
	}
	k := a.link(to)
	k.mu.Lock()
	tried := k.tried
	k.mu.Unlock()
	p.Flow()
	if tried == nil {
		return errors.New("the try has ended before the peer could answer")
	}
	<-tried
	if k.conn.Load() == nil {
		return errors.New("the answer came too late")
	}
	return nil
}
