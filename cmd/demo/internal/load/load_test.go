package load

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slap-go/slap/cmd/demo/internal/client"
)

const someTime = 300 * time.Millisecond

func runFor(t *testing.T, l *Load, d time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	l.Run(ctx)
}

// judge runs a load against a service that is disturbed and says what it finds.
func judge(t *testing.T, disturb func(f *fake, number int, key string) fault) (Verdict, Tally) {
	t.Helper()
	_, address := startFake(t, disturb)
	l := New(Options{Addresses: []string{address}, Clients: 8, Counters: 2})
	defer l.Close()
	runFor(t, l, someTime)
	verdict, err := l.Verify(t.Context())
	require.NoError(t, err)
	return verdict, l.Tally()
}

func TestNothingIsWrongWithAServiceThatIsRight(t *testing.T) {
	verdict, tally := judge(t, nil)
	require.Equal(t, Verdict{}, verdict)
	require.True(t, verdict.OK())
	require.Positive(t, tally.Acknowledged)
	require.Zero(t, tally.NotExecuted+tally.Unknown)
	require.Positive(t, tally.P50)
	require.GreaterOrEqual(t, tally.P99, tally.P50)
}

func TestFailuresThatAreToldTrulyAreNotWrong(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	verdict, tally := judge(t, func(*fake, int, string) fault {
		switch random.IntN(8) {
		case 0:
			return fault{skip: true, status: http.StatusServiceUnavailable, body: saysNo}
		case 1:
			return fault{skip: true, status: http.StatusGatewayTimeout, body: saysUnknown}
		case 2:
			return fault{status: http.StatusGatewayTimeout, body: saysUnknown}
		case 3:
			return fault{status: http.StatusInternalServerError, body: "no JSON"}
		default:
			return fault{}
		}
	})
	require.True(t, verdict.OK(), verdict)
	require.Positive(t, tally.Acknowledged)
	require.Positive(t, tally.NotExecuted)
	require.Positive(t, tally.Unknown)
}

// once does something with the first write after the tenth whose key contains part.
func once(part string, do func(f *fake, key string) fault) func(*fake, int, string) fault {
	done := false
	return func(f *fake, number int, key string) fault {
		if done || number < 10 || !strings.Contains(key, part) {
			return fault{}
		}
		done = true
		return do(f, key)
	}
}

func TestALostAdditionIsFound(t *testing.T) {
	verdict, _ := judge(t, once("counter", func(f *fake, key string) fault {
		f.counters[key] -= 2
		return fault{}
	}))
	require.Positive(t, verdict.Twice+verdict.Lost)
	require.Contains(t, verdict.String(), "counter load/")
}

func TestAdditionsLostAtTheEndAreFound(t *testing.T) {
	f, address := startFake(t, nil)
	l := New(Options{Addresses: []string{address}, Clients: 4})
	defer l.Close()
	runFor(t, l, someTime)
	f.mu.Lock()
	for key := range f.counters {
		f.counters[key]--
	}
	lost := int64(len(f.counters))
	f.mu.Unlock()
	verdict, err := l.Verify(t.Context())
	require.NoError(t, err)
	require.Equal(t, lost, verdict.Lost)
	require.Zero(t, verdict.Twice)
}

func TestAnAdditionThatWasSaidNotToHappenIsFound(t *testing.T) {
	verdict, _ := judge(t, once("counter", func(*fake, string) fault {
		return fault{status: http.StatusServiceUnavailable, body: saysNo}
	}))
	require.Equal(t, int64(1), verdict.Extra)
}

func TestALostValueIsFound(t *testing.T) {
	done := false
	verdict, _ := judge(t, func(f *fake, _ int, key string) fault {
		if !done && f.etags[key] != "" {
			done = true
			delete(f.etags, key)
			delete(f.values, key)
		}
		return fault{}
	})
	require.True(t, done)
	require.Positive(t, verdict.Lost)
	require.Contains(t, verdict.First, "key load/")
}

func TestAValueThatWasSaidNotToBeWrittenIsFound(t *testing.T) {
	verdict, _ := judge(t, once("value", func(*fake, string) fault {
		return fault{status: http.StatusServiceUnavailable, body: saysNo}
	}))
	require.False(t, verdict.OK())
}

func TestAnETagThatIsUsedAgainIsFound(t *testing.T) {
	v := newValue("k")
	v.acknowledged(`"a"`, "1")
	v.acknowledged(`"b"`, "2")
	require.True(t, v.verdict.OK())
	v.acknowledged(`"a"`, "3")
	require.Equal(t, int64(1), v.verdict.Twice)
}

func TestRequestsThatFindNoNodeAreNotExecuted(t *testing.T) {
	l := New(Options{Addresses: []string{"127.0.0.1:1"}, Clients: 2})
	defer l.Close()
	runFor(t, l, 50*time.Millisecond)
	require.Zero(t, l.Tally().Unknown)
	require.Positive(t, l.Tally().NotExecuted)
	require.Equal(t, []string{"127.0.0.1:1"}, l.Absent())
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := l.Verify(ctx)
	require.ErrorContains(t, err, "not everything could be read back")
}

func TestOutagesAreMeasuredWhileTheLoadRuns(t *testing.T) {
	at := func(ms int) time.Time { return time.UnixMilli(int64(ms)) }
	l := &Load{}
	l.outages.begin(at(0))
	l.outages.written(1, at(10))
	l.outages.written(1, at(15))
	l.outages.written(2, at(30))
	l.outages.end(at(35))
	require.Equal(t, 30*time.Millisecond, l.LongestOutage())
	l.outages.begin(at(1000))
	l.outages.written(1, at(1010))
	l.outages.written(2, at(1010))
	l.outages.end(at(1090))
	require.Equal(t, 80*time.Millisecond, l.LongestOutage(), "the time between runs does not count")
	require.Zero(t, l.LongestOutage())
}

func TestQuantilesAreWithinATenth(t *testing.T) {
	var h histogram
	for ms := 1; ms <= 1000; ms++ {
		h.add(time.Duration(ms) * time.Millisecond)
	}
	ranked := h.read()
	for q, want := range map[float64]float64{0.5: 500, 0.99: 990} {
		require.InEpsilon(t, want, float64(ranked.quantile(q))/float64(time.Millisecond), 0.1)
	}
	require.Zero(t, new(latencies).quantile(0.5))
}

func TestProgressIsALineEachSecond(t *testing.T) {
	_, address := startFake(t, nil)
	l := New(Options{Addresses: []string{address}, Clients: 1})
	defer l.Close()
	var out strings.Builder
	ctx, cancel := context.WithTimeoutCause(t.Context(), 1500*time.Millisecond, errors.New("enough"))
	defer cancel()
	l.Progress(ctx, &out, Tally{})
	require.Equal(t, 1, strings.Count(out.String(), "\n"))
	require.Contains(t, out.String(), "0 acknowledged")
}

func TestATallySinceAnotherCountsWhatCameAfterIt(t *testing.T) {
	var l Load
	l.tally.add(nil, time.Second)
	l.tally.add(client.ErrUnknown, time.Second)
	before := l.Tally()
	l.tally.add(nil, time.Millisecond)
	l.tally.add(client.ErrNotExecuted, time.Second)
	since := l.Tally().Since(before)
	require.Equal(t, []int64{1, 1, 0}, []int64{since.Acknowledged, since.NotExecuted, since.Unknown})
	require.InEpsilon(t, float64(time.Millisecond), float64(since.P99), 0.1)
}

func TestProgressNamesTheAddressThatNobodyAnswersAt(t *testing.T) {
	l := New(Options{Addresses: []string{"127.0.0.1:1"}, Clients: 1})
	defer l.Close()
	runFor(t, l, 50*time.Millisecond)
	var out strings.Builder
	ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
	defer cancel()
	l.Progress(ctx, &out, Tally{})
	require.Contains(t, out.String(), "no node answers at 127.0.0.1:1")
}
