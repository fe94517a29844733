//go:build unix

package store

import (
	"context"
	"crypto/rand"
	"errors"
	mathrand "math/rand/v2"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// stress is set for the long forms of the tests.
var stress = os.Getenv("SLAP_STRESS") == "1"

// herd is a number of child processes that increment one counter.
type herd struct {
	t      *testing.T
	dir    string
	bucket *dirBucket
	seed   uint64
	random *mathrand.Rand

	acked, unknown, killed atomic.Int64
	highest                atomic.Int64 // the highest value that was acknowledged
	failed                 atomic.Pointer[string]
}

func newHerd(t *testing.T) *herd {
	t.Helper()
	dir := t.TempDir()
	h := &herd{t: t, dir: dir, bucket: mustOpenDir(t, dir), seed: mathrand.Uint64()}
	h.random = mathrand.New(mathrand.NewPCG(h.seed, 0))
	t.Logf("seed %d", h.seed)
	if _, err := h.bucket.Put(t.Context(), "counter", []byte("0"), IfAbsent()); err != nil {
		t.Fatal(err)
	}
	return h
}

func mustOpenDir(t *testing.T, dir string) *dirBucket {
	t.Helper()
	b, err := newDirBucket(dir, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

func (h *herd) start(role string, n int) (*process, chan struct{}) {
	return startChild(h.t, role, h.dir, h.seed+uint64(n), h.count)
}

func (h *herd) count(e event) {
	switch e.word {
	case "acked":
		h.acked.Add(1)
		for old := h.highest.Load(); old < int64(e.value) && !h.highest.CompareAndSwap(old, int64(e.value)); {
			old = h.highest.Load()
		}
	case "unknown":
		h.unknown.Add(1)
	case "error":
		h.failed.Store(&e.text)
	}
}

// value reads the counter and fails the test if it is lower than what had been
// acknowledged before the read.
func (h *herd) value() int64 {
	h.t.Helper()
	floor := h.highest.Load()
	o, err := h.bucket.Get(context.Background(), "counter")
	if err != nil {
		h.t.Fatalf("the store is not readable: %v", err)
	}
	value, err := strconv.ParseInt(string(o.Data), 10, 64)
	if err != nil || value < floor {
		h.t.Fatalf("the counter was read as %q after %d was acknowledged", o.Data, floor)
	}
	if text := h.failed.Load(); text != nil {
		h.t.Fatalf("a child failed: %s", *text)
	}
	return value
}

func (h *herd) mustBalance() {
	h.t.Helper()
	value, acked, unknown, killed := h.value(), h.acked.Load(), h.unknown.Load(), h.killed.Load()
	h.t.Logf("acknowledged %d, unknown %d, killed %d, value %d", acked, unknown, killed, value)
	if value < acked || value > acked+unknown+killed {
		h.t.Fatalf("the counter is %d after %d acknowledged updates, %d unknown and %d kills", value, acked, unknown, killed)
	}
}

// runStopping runs the children until there is enough, and stops them for half a
// nap to one and a half at a time meanwhile.
func (h *herd) runStopping(role string, children int, nap time.Duration, enough func() bool) {
	h.t.Helper()
	processes := make([]*process, children)
	ends := make([]chan struct{}, children)
	for i := range children {
		processes[i], ends[i] = h.start(role, i)
	}
	wakeAt := make([]time.Time, children)
	for stops := 0; !enough() || stops < children; time.Sleep(10 * time.Millisecond) {
		h.value()
		for i, p := range processes {
			if now := time.Now(); now.After(wakeAt[i]) {
				p.resume() // also one that stopped itself
				wakeAt[i] = now.Add(time.Duration(h.random.IntN(300)) * time.Millisecond)
				if h.random.IntN(20) == 0 {
					p.pause()
					stops++
					wakeAt[i] = now.Add(nap/2 + time.Duration(h.random.Int64N(int64(nap))))
				}
			}
		}
	}
	h.finish(processes, ends)
}

// finish tells the children to stop and waits for them.
func (h *herd) finish(processes []*process, ends []chan struct{}) {
	h.t.Helper()
	var group sync.WaitGroup
	for i, p := range processes {
		group.Go(func() {
			_ = p.stdin.Close()
			for {
				p.resume()
				select {
				case <-ends[i]:
					return
				case <-time.After(20 * time.Millisecond):
				}
			}
		})
	}
	group.Wait()
}

// Eight processes, of which some sleep for seconds, most of them between reading
// a version and linking the next one, and some long enough to meet an unknown outcome.
func TestP12_1_StoppedProcesses(t *testing.T) {
	updates := int64(10_000)
	if stress {
		updates = 100_000
	}
	h := newHerd(t)
	h.runStopping("increment", 8, 2*time.Second, func() bool { return h.acked.Load() >= updates && h.unknown.Load() > 0 })
	h.mustBalance()
}

// The creation and deletion of a key exclude each other between processes: a
// counter that only the creator increments, without a condition, loses nothing.
func TestP12_1_CreateAndDeleteExclude(t *testing.T) {
	updates := int64(1_500)
	if stress {
		updates = 30_000
	}
	h := newHerd(t)
	h.runStopping("locker", 6, 200*time.Millisecond, func() bool { return h.acked.Load() >= updates })
	if value, acked := h.value(), h.acked.Load(); value != acked {
		t.Fatalf("the counter is %d after %d exclusive increments", value, acked)
	}
	t.Logf("%d rounds, %d unknown", h.acked.Load(), h.unknown.Load())
}

// A kill at any moment leaves a readable store and loses nothing acknowledged.
func TestP12_1_KilledProcesses(t *testing.T) {
	kills := int64(60)
	if stress {
		kills = 1_500
	}
	h := newHerd(t)
	const children = 4
	processes := make([]*process, children)
	ends := make([]chan struct{}, children)
	for i := range children {
		processes[i], ends[i] = h.start("increment", i)
	}
	for h.killed.Load() < kills {
		i := h.random.IntN(children)
		before := h.acked.Load()
		h.eventually("progress", func() bool {
			for _, p := range processes {
				p.resume()
			}
			return h.acked.Load() > before
		})
		time.Sleep(time.Duration(h.random.IntN(20_000)) * time.Microsecond)
		_ = processes[i].Process.Kill()
		<-ends[i]
		h.killed.Add(1) // its last update may have been made without a report
		h.value()
		processes[i], ends[i] = h.start("increment", int(h.killed.Load())+children)
	}
	h.finish(processes, ends)
	h.mustBalance()
	entries, err := h.bucket.List(context.Background(), "")
	if err != nil || len(entries) != 1 {
		t.Fatalf("List = %v, %v, want the counter", entries, err)
	}
}

func (h *herd) eventually(what string, done func() bool) {
	h.t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			h.t.Fatalf("no %s within a minute (seed %d)", what, h.seed)
		}
	}
}

// A writer that slept through 200 versions finds the next number free again and
// must not be told success, and what it wrote must not become current.
func TestP12_1_SleptThrough200Versions(t *testing.T) {
	h := newHerd(t)
	reports := make(chan event, 10)
	p, ended := startChild(t, "sleeper", h.dir, 0, func(e event) { reports <- e })
	if e := <-reports; e.word != "linking" {
		t.Fatalf("the sleeper reported %v before its link", e)
	}
	for i := 1; i <= 200; i++ {
		mustIncrement(t, h.bucket)
	}
	p.write("go on")
	<-ended
	if e := <-reports; e.word != "unknown" {
		t.Errorf("the sleeper reported %v, want an unknown outcome", e)
	}
	if value := h.value(); value != 200 {
		t.Errorf("the counter is %d after 200 updates", value)
	}
}

func mustIncrement(t *testing.T, b *dirBucket) {
	t.Helper()
	o, err := b.Get(t.Context(), "counter")
	if err != nil {
		t.Fatal(err)
	}
	value, err := strconv.Atoi(string(o.Data))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Put(t.Context(), "counter", strconv.AppendInt(nil, int64(value+1), 10), IfMatch(o.Version)); err != nil {
		t.Fatal(err)
	}
}

// The same asleep through a deletion: its file ended with the key's life, so the
// update was certainly not made.
func TestP12_1_SleptThroughDeletion(t *testing.T) {
	h := newHerd(t)
	asleep, wake := make(chan struct{}), make(chan struct{})
	sleeper, err := openDirBucket(h.dir, rand.Reader, sleepingLink(asleep, wake))
	if err != nil {
		t.Fatal(err)
	}
	defer sleeper.Close()
	o, err := sleeper.Get(t.Context(), "counter")
	if err != nil {
		t.Fatal(err)
	}
	result := make(chan error)
	go func() {
		_, err := sleeper.Put(context.Background(), "counter", []byte("1000"), IfMatch(o.Version))
		result <- err
	}()
	<-asleep
	if err := h.bucket.Delete(t.Context(), "counter"); err != nil {
		t.Fatal(err)
	}
	if _, err := h.bucket.Get(t.Context(), "counter"); !errors.Is(err, ErrNotFound) {
		t.Fatalf("Get after Delete: %v", err)
	}
	if _, err := h.bucket.Put(t.Context(), "counter", []byte("0"), IfAbsent()); err != nil {
		t.Fatal(err)
	}
	close(wake)
	if err := <-result; !errors.Is(err, ErrConflict) {
		t.Errorf("the sleeper got %v, want ErrConflict", err)
	}
	if value := h.value(); value != 0 {
		t.Errorf("the sleeper's write of a past life is visible: %d", value)
	}
}

// sleepingLink waits before the second link; the first one is made at opening.
func sleepingLink(asleep, wake chan struct{}) linker {
	links := 0
	return func(root *os.Root, from, to string) error {
		if links++; links == 2 {
			close(asleep)
			<-wake
		}
		return root.Link(from, to)
	}
}
