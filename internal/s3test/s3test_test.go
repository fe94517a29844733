package s3test_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/slap-go/slap/internal/s3test"
)

// launchIn is set for a process that only launches a server, in this directory.
const launchIn = "S3TEST_LAUNCH_IN"

func TestMain(m *testing.M) {
	if dir := os.Getenv(launchIn); dir != "" {
		os.Exit(launchAndWait(dir))
	}
	goleak.VerifyTestMain(m)
}

func launchAndWait(dir string) int {
	s, err := s3test.Launch(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Fprintln(os.Stdout, s.Endpoint)
	select {}
}

func TestBuildSaysWhatToRun(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	t.Setenv("GOCACHE", t.TempDir())
	t.Setenv("GOMODCACHE", t.TempDir())
	t.Setenv("GOPROXY", "off")
	binary, err := s3test.Build(t.Context())
	if err == nil {
		t.Fatalf("%s was built from nothing", binary)
	}
	if text := err.Error(); !strings.Contains(text, "run `go run ./internal/s3test/build`") || strings.Contains(text, "\n") {
		t.Fatalf("not one sentence: %s", text)
	}
}

// get asks without a signature, which the server refuses: 403 for its root, 400 for an object.
func get(t *testing.T, url string) (int, error) {
	t.Helper()
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Get(url)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	return response.StatusCode, nil
}

func mustGet(t *testing.T, url string, want int) {
	t.Helper()
	if status, err := get(t, url); err != nil || status != want {
		t.Fatalf("GET %s: %d, %v; want %d", url, status, err, want)
	}
}

func mustFail(t *testing.T, url string) {
	t.Helper()
	if status, err := get(t, url); err == nil {
		t.Fatalf("GET %s: %d; want no answer", url, status)
	}
}

func TestServerStopsAndComesBackAtItsAddress(t *testing.T) {
	s := s3test.Start(t, "b")
	mustGet(t, s.Endpoint, 403)
	s.Kill()
	mustFail(t, s.Endpoint)
	if err := s.Pause(); err == nil {
		t.Fatal("a stopped server was paused")
	}
	if err := s.Restart(); err != nil {
		t.Fatal(err)
	}
	mustGet(t, s.Endpoint, 403)
}

func TestServerPauses(t *testing.T) {
	s := s3test.Start(t, "b")
	if err := s.Pause(); err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Timeout: 300 * time.Millisecond, Transport: &http.Transport{DisableKeepAlives: true}}
	if response, err := client.Get(s.Endpoint); !os.IsTimeout(err) {
		t.Fatalf("a paused server answered %v, %v", response, err)
	}
	if err := s.Continue(); err != nil {
		t.Fatal(err)
	}
	mustGet(t, s.Endpoint, 403)
}

func TestProxyPassesFailsAndCounts(t *testing.T) {
	s := s3test.Start(t, "b")
	p := s3test.NewProxy(t, s)
	all, other := p.Count(nil), p.Count(s3test.On("GET", "other"))

	mustGet(t, p.Endpoint+"/b/key", 400)
	rule := p.Inject(s3test.Rule{Match: s3test.On("GET", "key"), Skip: 1, Times: 2, Fault: s3test.Status(503, "SlowDown")})
	for _, want := range []int{400, 503, 503, 400} {
		mustGet(t, p.Endpoint+"/b/key", want)
	}
	mustGet(t, p.Endpoint+"/b/other", 400)
	if all.N() != 6 || other.N() != 1 || rule.Hits() != 2 {
		t.Fatalf("counted %d requests, %d of another key, %d faults; want 6, 1, 2", all.N(), other.N(), rule.Hits())
	}
}

func TestProxyRefusesAndAccepts(t *testing.T) {
	p := s3test.NewProxy(t, s3test.Start(t, "b"))
	p.Refuse()
	mustFail(t, p.Endpoint)
	if err := p.Accept(); err != nil {
		t.Fatal(err)
	}
	mustGet(t, p.Endpoint, 403)
}

func TestProxyHoldsUntilReleased(t *testing.T) {
	p := s3test.NewProxy(t, s3test.Start(t, "b"))
	rule := p.Inject(s3test.Rule{Fault: s3test.HoldRequest})
	status := make(chan int)
	go func() {
		got, _ := get(t, p.Endpoint)
		status <- got
	}()
	rule.Await(t, 1)
	rule.Release()
	if got := <-status; got != 403 {
		t.Fatalf("the held request was answered %d; want 403", got)
	}
}

func TestProxyCloseEndsHeldRequests(t *testing.T) {
	p, err := s3test.LaunchProxy(s3test.Start(t, "b").Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	rule := p.Inject(s3test.Rule{Fault: s3test.Hang})
	failed := make(chan error)
	go func() {
		_, err := get(t, p.Endpoint)
		failed <- err
	}()
	rule.Await(t, 1)
	p.Close()
	if err := <-failed; err == nil {
		t.Fatal("a hanging request was answered")
	}
}

func TestBlackholeTakesOnlyOpenConnections(t *testing.T) {
	p := s3test.NewProxy(t, s3test.Start(t, "b"))
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	reusing := &http.Client{Timeout: time.Minute, Transport: transport}
	response, err := reusing.Get(p.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
	p.Blackhole()
	reusing.Timeout = 300 * time.Millisecond
	if response, err := reusing.Get(p.Endpoint); !os.IsTimeout(err) {
		t.Fatalf("a lost connection answered %v, %v", response, err)
	}
	mustGet(t, p.Endpoint, 403)
}
