package load

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slap-go/slap/cmd/demo/internal/client"
)

// startPulse is a pulse at a fake service with three shards.
func startPulse(t *testing.T, disturb func(f *fake, number int, key string) fault) (*Pulse, *client.Client) {
	t.Helper()
	_, address := startFake(t, disturb)
	c := client.New(address, 8)
	t.Cleanup(c.Close)
	p, err := StartPulse(t.Context(), 5*time.Millisecond, 3, c)
	require.NoError(t, err)
	t.Cleanup(p.Stop)
	return p, c
}

func served(t *testing.T, p *Pulse) {
	t.Helper()
	now := time.Now()
	require.Eventually(t, func() bool { return p.Served(now) == nil }, 10*time.Second, time.Millisecond)
}

func TestAPulseMeasuresForHowLongNothingIsAcknowledged(t *testing.T) {
	var out atomic.Bool
	p, c := startPulse(t, func(*fake, int, string) fault {
		if out.Load() {
			return fault{skip: true, status: http.StatusServiceUnavailable, body: saysNo}
		}
		return fault{}
	})
	served(t, p)
	out.Store(true)
	began := p.Mark()
	require.Eventually(t, func() bool { return time.Since(began) > 200*time.Millisecond }, 10*time.Second, time.Millisecond)
	require.ErrorIs(t, p.Served(time.Now()), client.ErrNotExecuted)
	out.Store(false)
	served(t, p)
	longest, _ := p.Outage()
	require.Greater(t, longest, 200*time.Millisecond)
	unknown, _ := p.Unknown()
	require.Zero(t, unknown)
	p.Stop()
	verdict, err := p.Verify(t.Context(), c)
	require.NoError(t, err)
	require.True(t, verdict.OK(), verdict)
}

func TestAPulseFindsAnAdditionThatIsGone(t *testing.T) {
	var past atomic.Bool
	p, c := startPulse(t, func(f *fake, _ int, key string) fault {
		if past.CompareAndSwap(true, false) {
			f.counters[key] = 0
		}
		return fault{}
	})
	served(t, p)
	p.Read(t.Context(), c, 2)
	past.Store(true)
	require.Eventually(t, func() bool { return !past.Load() }, 10*time.Second, time.Millisecond)
	served(t, p)
	p.Read(t.Context(), c, 2)
	p.Stop()
	verdict, err := p.Verify(t.Context(), c)
	require.NoError(t, err)
	require.Positive(t, verdict.Lost+verdict.Twice)
}

func TestAReadThatIsOlderThanWhatWasKnownIsFound(t *testing.T) {
	f, address := startFake(t, nil)
	c := client.New(address, 1)
	defer c.Close()
	counted := newCounter("k")
	for range 2 {
		_, err := counted.add(t.Context(), c)
		require.NoError(t, err)
	}
	counted.read(t.Context(), c)
	require.True(t, counted.verdicts.OK())
	f.mu.Lock()
	f.counters["/counters/k"] = 1
	f.mu.Unlock()
	counted.read(t.Context(), c)
	require.Equal(t, int64(1), counted.verdicts.Lost)
}

func TestALoadWithReadsWhoseClientsStayAtOneNode(t *testing.T) {
	_, address := startFake(t, nil)
	l := New(Options{Addresses: []string{address, address}, Clients: 4, Pinned: true, Reads: true})
	defer l.Close()
	runFor(t, l, someTime)
	verdict, err := l.Verify(t.Context())
	require.NoError(t, err)
	require.True(t, verdict.OK(), verdict)
	require.Positive(t, l.Additions())
}
