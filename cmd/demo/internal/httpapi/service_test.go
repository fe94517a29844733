package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/cmd/demo/demopb"
	"github.com/slap-go/slap/cmd/demo/internal/journal"
	"github.com/slap-go/slap/cmd/demo/internal/kv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeCluster answers every request by a function.
type fakeCluster struct {
	answer      func(ctx context.Context, shard int, child string, request proto.Message) (proto.Message, error)
	assignments []slap.Assignment
	ready       bool
	done        chan struct{}
}

func (f *fakeCluster) Ask(ctx context.Context, shard int, child string, request proto.Message, _ ...slap.CallOption) (proto.Message, error) {
	return f.answer(ctx, shard, child, request)
}

func (f *fakeCluster) Call(ctx context.Context, shard int, handler string, request proto.Message, _ ...slap.CallOption) (proto.Message, error) {
	return f.answer(ctx, shard, handler, request)
}
func (f *fakeCluster) ShardForString(key string) int  { return len(key) }
func (f *fakeCluster) Unreachable() []string          { return []string{"gone"} }
func (f *fakeCluster) Assignments() []slap.Assignment { return f.assignments }
func (f *fakeCluster) Ready() bool                    { return f.ready }
func (f *fakeCluster) Done() <-chan struct{}          { return f.done }

func newFake(answer proto.Message, err error) *fakeCluster {
	return &fakeCluster{
		answer: func(context.Context, int, string, proto.Message) (proto.Message, error) { return answer, err },
		done:   make(chan struct{}),
	}
}

func newService(t *testing.T, cluster Cluster) *Service {
	t.Helper()
	return New(Config{
		ClusterName: "demo", NodeName: "a", Shards: 3, Store: "memory:///", Cluster: cluster, Journal: &journal.Journal{},
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("metrics")) }),
	})
}

func call(s *Service, method, target string, body io.Reader, header ...string) *httptest.ResponseRecorder {
	request := httptest.NewRequest(method, target, body)
	for i := 0; i+1 < len(header); i += 2 {
		request.Header.Add(header[i], header[i+1])
	}
	answer := httptest.NewRecorder()
	s.ServeHTTP(answer, request)
	return answer
}

func problemOf(t *testing.T, answer *httptest.ResponseRecorder) problem {
	t.Helper()
	require.Equal(t, "application/json", answer.Header().Get("Content-Type"))
	var body map[string]problem
	require.NoError(t, json.Unmarshal(answer.Body.Bytes(), &body))
	require.Len(t, body, 1)
	require.NotEmpty(t, body["error"].Message)
	return body["error"]
}

func TestErrorsFollowWhetherTheRequestWasExecuted(t *testing.T) {
	no := func(kind error) error { return &slap.RequestError{Kind: kind} }
	maybe := func(kind error) error { return &slap.RequestError{Kind: kind, Unknown: true} }
	because := func(kind, cause error) error { return &slap.RequestError{Kind: kind, Unknown: true, Cause: cause} }
	for _, c := range []struct {
		err            error
		status         int
		code, executed string
	}{
		{no(slap.ErrUnassigned), 503, "unassigned", "no"},
		{no(slap.ErrNotOwner), 503, "not_owner", "no"},
		{no(slap.ErrNoConnection), 503, "no_connection", "no"},
		{no(slap.ErrFenced), 503, "fenced", "no"},
		{no(slap.ErrStopping), 503, "unavailable", "no"},
		{no(slap.ErrOverloaded), 503, "unavailable", "no"},
		{no(slap.ErrNotRunning), 503, "unavailable", "no"},
		{no(slap.ErrTimeout), 503, "timeout", "no"},
		{&slap.RequestError{Kind: slap.ErrTimeout, Cause: no(slap.ErrUnassigned)}, 503, "timeout", "no"},
		{no(slap.ErrTooLarge), 400, "invalid", "no"},
		{no(slap.ErrUnknownType), 400, "invalid", "no"},
		{no(slap.ErrInvalid), 400, "invalid", "no"},
		{no(slap.ErrNoChild), 400, "invalid", "no"},
		{no(slap.ErrNoHandler), 400, "invalid", "no"},
		{maybe(slap.ErrTimeout), 504, "timeout", "unknown"},
		{maybe(slap.ErrFenced), 504, "fenced", "unknown"},
		{maybe(slap.ErrPanicked), 504, "unavailable", "unknown"},
		{maybe(slap.ErrChildStopped), 504, "unavailable", "unknown"},
		{maybe(slap.ErrNotDurable), 504, "unavailable", "unknown"},
		{because(slap.ErrNotDurable, slap.ErrFenced), 504, "fenced", "unknown"},
		{maybe(slap.ErrConnectionLost), 504, "unavailable", "unknown"},
		{errors.New("anything else"), 504, "unavailable", "unknown"},
	} {
		for _, target := range []string{"POST /counters/k", "GET /counters/k", "PUT /kv/k", "GET /kv/k", "DELETE /kv/k"} {
			method, path, _ := strings.Cut(target, " ")
			answer := call(newService(t, newFake(nil, c.err)), method, path, nil)
			require.Equal(t, c.status, answer.Code, "%s: %v", target, c.err)
			p := problemOf(t, answer)
			require.Equal(t, c.code, p.Code, c.err)
			require.Equal(t, c.executed, p.Executed, c.err)
			require.Equal(t, c.status == 503, answer.Header().Get("Retry-After") != "", c.err)
		}
	}
}

func TestAWrongAnswerIsAnUnknownOutcome(t *testing.T) {
	answer := call(newService(t, newFake(&demopb.Entry{}, nil)), "POST", "/counters/k", nil)
	require.Equal(t, http.StatusGatewayTimeout, answer.Code)
	require.Equal(t, "unknown", problemOf(t, answer).Executed)
}

func TestCounters(t *testing.T) {
	cluster := newFake(nil, nil)
	cluster.answer = func(_ context.Context, shard int, child string, request proto.Message) (proto.Message, error) {
		require.Equal(t, len("a/b c"), shard)
		switch m := request.(type) {
		case *demopb.Add:
			require.Equal(t, "counter", child)
			require.Equal(t, "a/b c", string(m.GetKey()))
			return &demopb.Added{Value: 40 + m.GetBy(), Seq: 7}, nil
		case *demopb.ReadCounter:
			require.Equal(t, "counter.read", child)
			return &demopb.CounterValue{}, nil
		}
		return nil, errors.ErrUnsupported
	}
	s := newService(t, cluster)
	for query, value := range map[string]string{"": "41", "?by=2": "42", "?by=-40": "0"} {
		answer := call(s, "POST", "/counters/a%2Fb%20c"+query, nil)
		require.Equal(t, 200, answer.Code)
		require.JSONEq(t, `{"key":"a/b c","value":`+value+`,"shard":5,"seq":7,"node":"a"}`, answer.Body.String())
	}
	answer := call(s, "GET", "/counters/a/b%20c", nil)
	require.Equal(t, 200, answer.Code)
	require.JSONEq(t, `{"key":"a/b c","value":0,"shard":5,"node":"a"}`, answer.Body.String())
}

func TestAnOverflowIsTheClientsMistake(t *testing.T) {
	answer := call(newService(t, newFake(nil, &slap.AppError{Code: "invalid", Message: "too much"})), "POST", "/counters/k", nil)
	require.Equal(t, 400, answer.Code)
	require.Equal(t, problem{"invalid", "no", "too much"}, problemOf(t, answer))
}

func TestValues(t *testing.T) {
	stored := newService(t, newFake(&demopb.PutDone{Etag: "tag"}, nil))
	answer := call(stored, "PUT", "/kv/k", strings.NewReader("v"), "If-Match", `"x"`)
	require.Equal(t, 200, answer.Code)
	require.Equal(t, `"tag"`, answer.Header().Get("ETag"))

	got := newService(t, newFake(&demopb.Entry{Etag: "tag", Value: []byte("v")}, nil))
	answer = call(got, "GET", "/kv/k", nil)
	require.Equal(t, 200, answer.Code)
	require.Equal(t, "v", answer.Body.String())
	require.Equal(t, `"tag"`, answer.Header().Get("ETag"))

	answer = call(newService(t, newFake(nil, &slap.AppError{Code: kv.NotFound, Message: "m"})), "GET", "/kv/k", nil)
	require.Equal(t, 404, answer.Code)
	require.Equal(t, "not_found", problemOf(t, answer).Code)

	answer = call(newService(t, newFake(&demopb.DeleteDone{}, nil)), "DELETE", "/kv/k", nil)
	require.Equal(t, 204, answer.Code)
	require.Empty(t, answer.Body.String())

	refusing := newService(t, newFake(nil, &slap.AppError{Code: kv.PreconditionFailed, Message: "m"}))
	for _, method := range []string{"PUT", "DELETE"} {
		answer := call(refusing, method, "/kv/k", nil)
		require.Equal(t, 412, answer.Code)
		require.Equal(t, problem{"precondition_failed", "no", "m"}, problemOf(t, answer))
	}
}

func TestPreconditionsReachTheShard(t *testing.T) {
	cluster := newFake(nil, nil)
	cluster.answer = func(_ context.Context, _ int, _ string, request proto.Message) (proto.Message, error) {
		put := request.(*demopb.Put)
		require.Equal(t, []string{"a", "b"}, put.GetWhen().GetIfMatch().GetTags())
		require.True(t, put.GetWhen().GetIfNoneMatch().GetAny())
		return &demopb.PutDone{Etag: "x"}, nil
	}
	answer := call(newService(t, cluster), "PUT", "/kv/k", nil, "If-Match", `"a"`, "If-Match", `"b"`, "If-None-Match", "*")
	require.Equal(t, 200, answer.Code)
}

func TestRequestsThatAreRefusedBeforeTheyReachAShard(t *testing.T) {
	cluster := newFake(nil, nil)
	cluster.answer = func(context.Context, int, string, proto.Message) (proto.Message, error) {
		t.Error("asked")
		return nil, errors.ErrUnsupported
	}
	s := newService(t, cluster)
	longKey := strings.Repeat("k", maxKey+1)
	escapedKey := strings.Repeat("%2F", maxKey+1)
	big := strings.Repeat("b", maxBody+1)
	for _, c := range []struct {
		method, target, body string
		status               int
		code                 string
		header               []string
	}{
		{"POST", "/counters/", "", 400, "invalid", nil},
		{"GET", "/kv/", "", 400, "invalid", nil},
		{"GET", "/kv", "", 400, "invalid", nil},
		{"GET", "/counters", "", 400, "invalid", nil},
		{"POST", "/counters", "", 400, "invalid", nil},
		{"POST", "/counters/" + longKey, "", 400, "invalid", nil},
		{"GET", "/counters/" + escapedKey, "", 400, "invalid", nil},
		{"PUT", "/kv/" + longKey, "v", 400, "invalid", nil},
		{"GET", "/kv/" + longKey, "", 400, "invalid", nil},
		{"DELETE", "/kv/" + longKey, "", 400, "invalid", nil},
		{"PUT", "/kv/k", big, 400, "invalid", nil},
		{"POST", "/counters/k", big, 400, "invalid", nil},
		{"POST", "/counters/k?by=", "", 400, "invalid", nil},
		{"POST", "/counters/k?by=1.5", "", 400, "invalid", nil},
		{"POST", "/counters/k?by=9223372036854775808", "", 400, "invalid", nil},
		{"PUT", "/kv/k", "", 400, "invalid", []string{"If-Match", "unquoted"}},
		{"DELETE", "/kv/k", "", 400, "invalid", []string{"If-None-Match", `"open`}},
		{"PATCH", "/kv/k", "", 405, "method_not_allowed", nil},
		{"DELETE", "/counters/k", "", 405, "method_not_allowed", nil},
		{"POST", "/shards", "", 405, "method_not_allowed", nil},
		{"POST", "/", "", 405, "method_not_allowed", nil},
		{"GET", "/nothing", "", 404, "not_found", nil},
	} {
		answer := call(s, c.method, c.target, strings.NewReader(c.body), c.header...)
		name := c.method + " " + c.target[:min(len(c.target), 20)]
		require.Equal(t, c.status, answer.Code, name)
		p := problemOf(t, answer)
		require.Equal(t, c.code, p.Code, name)
		require.Equal(t, "no", p.Executed, name)
		if c.status == 405 {
			require.NotEmpty(t, answer.Header().Get("Allow"), name)
		}
	}
}

func TestKeysOfTheLargestSizeAndAnyBytes(t *testing.T) {
	for _, key := range []string{strings.Repeat("k", maxKey), "..", ".", "a//b", "/", "%", "ü €", "a\x00\xff", "a?b#c"} {
		cluster := newFake(nil, nil)
		cluster.answer = func(_ context.Context, _ int, _ string, request proto.Message) (proto.Message, error) {
			require.Equal(t, key, string(request.(*demopb.Get).GetKey()))
			return &demopb.Entry{}, nil
		}
		escaped := url.PathEscape(key)
		if strings.Trim(key, ".") == "" {
			escaped = strings.ReplaceAll(key, ".", "%2E")
		}
		require.Equal(t, 200, call(newService(t, cluster), "GET", "/kv/"+escaped, nil).Code, key)
	}
}

func TestABodyOfTheLargestSizeIsStored(t *testing.T) {
	s := newService(t, newFake(&demopb.PutDone{Etag: "x"}, nil))
	require.Equal(t, 200, call(s, "PUT", "/kv/k", strings.NewReader(strings.Repeat("b", maxBody))).Code)
}

func TestTheClientsContextReachesTheShard(t *testing.T) {
	cluster := newFake(nil, nil)
	cluster.answer = func(ctx context.Context, _ int, _ string, _ proto.Message) (proto.Message, error) {
		<-ctx.Done()
		return nil, &slap.RequestError{Kind: slap.ErrTimeout, Unknown: true, Cause: ctx.Err()}
	}
	s := newService(t, cluster)
	ctx, gone := context.WithCancel(t.Context())
	gone()
	answer := httptest.NewRecorder()
	s.ServeHTTP(answer, httptest.NewRequestWithContext(ctx, "POST", "/counters/k", nil))
	require.Equal(t, 504, answer.Code)
	require.Equal(t, "timeout", problemOf(t, answer).Code)
}
