package load

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a service that is right, except for what disturb does.
type fake struct {
	mu       sync.Mutex
	counters map[string]int64
	values   map[string]string
	etags    map[string]string
	writes   int

	// disturb is called with each write's number, under the lock, before it.
	disturb func(f *fake, number int, key string) fault
}

// fault is what happens to one write.
type fault struct {
	skip   bool // do not do it
	status int  // answer this instead, if not 0
	body   string
}

const (
	saysNo      = `{"error":{"code":"unavailable","executed":"no","message":"test"}}`
	saysUnknown = `{"error":{"code":"timeout","executed":"unknown","message":"test"}}`
)

func startFake(t *testing.T, disturb func(f *fake, number int, key string) fault) (*fake, string) {
	t.Helper()
	f := &fake{counters: map[string]int64{}, values: map[string]string{}, etags: map[string]string{}, disturb: disturb}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	return f, strings.TrimPrefix(server.URL, "http://")
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	f.mu.Lock()
	defer f.mu.Unlock()
	key := r.URL.Path
	var now fault
	if r.Method != http.MethodGet && f.disturb != nil {
		f.writes++
		now = f.disturb(f, f.writes, key)
	}
	answer := httptest.NewRecorder()
	if !now.skip {
		f.serve(answer, r, key, string(body))
	}
	if now.status != 0 {
		http.Error(w, now.body, now.status)
		return
	}
	maps.Copy(w.Header(), answer.Header())
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes())
}

func (f *fake) serve(w http.ResponseWriter, r *http.Request, key, body string) {
	switch {
	case strings.HasPrefix(key, "/counters/"):
		if r.Method == http.MethodPost {
			f.counters[key]++
		}
		fmt.Fprintf(w, `{"key":"k","value":%d,"shard":%d,"seq":1,"node":"a"}`, f.counters[key], len(key)%3)
	case r.Method == http.MethodGet:
		f.get(w, key)
	default:
		f.put(w, r, key, body)
	}
}

func (f *fake) get(w http.ResponseWriter, key string) {
	if f.etags[key] == "" {
		http.Error(w, saysNo, http.StatusNotFound)
		return
	}
	w.Header().Set("ETag", f.etags[key])
	_, _ = w.Write([]byte(f.values[key]))
}

func (f *fake) put(w http.ResponseWriter, r *http.Request, key, body string) {
	held := f.etags[key] == r.Header.Get("If-Match")
	if r.Header.Get("If-None-Match") == "*" {
		held = f.etags[key] == ""
	}
	if !held {
		http.Error(w, saysNo, http.StatusPreconditionFailed)
		return
	}
	f.values[key] = body
	f.etags[key] = fmt.Sprintf(`"%d-%s"`, f.writes, body)
	w.Header().Set("ETag", f.etags[key])
}
