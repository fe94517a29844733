package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/slap-go/slap/cmd/demo/internal/client"
	"github.com/slap-go/slap/cmd/demo/internal/process"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var readyLine = regexp.MustCompile(`(?m)^ready name=a remote=127\.0\.0\.1:\d+ http=(\S+)$`)

// runNode runs a node in this process and returns its HTTP address and what ends it.
func runNode(t *testing.T) (address string, leave func() error) {
	t.Helper()
	o, err := ParseOptions([]string{
		"--name", "a", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--store", "memory:///",
		"--shards", "2", "--flush-interval", "1ms",
	}, io.Discard)
	require.NoError(t, err)
	ctx, cancel := context.WithCancelCause(context.Background())
	var stdout, stderr process.Transcript
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, o, &stdout, &stderr) }()
	leave = func() error {
		cancel(errors.New("the test is over"))
		return <-ended
	}
	require.Eventually(t, func() bool { return readyLine.MatchString(stdout.String()) }, time.Minute, time.Millisecond)
	return readyLine.FindStringSubmatch(stdout.String())[1], leave
}

func TestANodeLeavesNothingBehind(t *testing.T) {
	for range 3 {
		address, leave := runNode(t)
		c := client.New(address, 8)
		var adding sync.WaitGroup
		for n := range 8 {
			adding.Go(func() {
				_, err := c.Add(t.Context(), fmt.Sprint(n), 1)
				if err != nil {
					t.Error(err)
				}
			})
		}
		adding.Wait()
		require.NoError(t, leave())
		_, err := c.Counter(t.Context(), "0")
		require.ErrorIs(t, err, client.ErrNotExecuted)
		c.Close()
	}
}

func TestConnectionsFromOtherNodesAreHungUpOn(t *testing.T) {
	s, err := bind(t.Context(), Options{HTTP: "127.0.0.1:0", Listen: "127.0.0.1:0"})
	require.NoError(t, err)
	defer s.close()
	c := client.New(s.remote.Addr().String(), 1)
	defer c.Close()
	_, err = c.Counter(t.Context(), "k")
	require.ErrorIs(t, err, client.ErrUnknown)
}

func TestTheLogIsSilentUntilTheNodeHasStarted(t *testing.T) {
	var out process.Transcript
	l := newLog(&out)
	l.Error("unheard")
	require.Empty(t, out.String())
	l.open()
	l.With("k", "v").Info("heard")
	require.Contains(t, out.String(), "msg=heard k=v")
}
