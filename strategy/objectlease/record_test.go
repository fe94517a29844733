package objectlease

import (
	"encoding/json"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slap-go/slap/strategy/lease"
)

// What lies in the bucket, to the byte: other implementations read it.
func TestOL1_P2_1_Layout(t *testing.T) {
	r, b := faulty(t)
	r.place = placeIn("some/path")
	if err := r.Setup(t.Context()); err != nil {
		t.Fatal(err)
	}
	l := claim(7, "", "a")
	l.Record.Nonce = "n"
	v := mustWrite(t, r, l)
	const folder = "some/path/_cluster/placement/"
	mustHold(t, b, folder+"shards/000007", `{"owner":"a","address":"a:1","incarnation":"i","generation":4,`+
		`"ttl_ms":15000,"nonce":"n","expires_at":1790000000123}`)
	mustWrite(t, r, lease.Lease{Shard: 7, Version: v, Record: lease.Record{Generation: 4, Nonce: "m", ExpiresAt: time.Now()}})
	mustHold(t, b, folder+"shards/000007", `{"owner":null,"address":"","incarnation":"","generation":4,"ttl_ms":0,"nonce":"m","expires_at":0}`)
	_, err := r.WriteHeartbeat(t.Context(), lease.Beat{Heartbeat: lease.Heartbeat{
		Node: "a", Address: "a:1", Incarnation: "i", State: lease.Leaving, TTL: 3 * time.Second, Nonce: "n",
		Shards: []lease.Held{{Shard: 7, State: lease.Closing, Generation: 4}}, At: time.UnixMilli(1_790_000_000_123),
	}})
	if err != nil {
		t.Fatal(err)
	}
	mustHold(t, b, folder+"nodes/a", `{"heartbeat":1790000000123,"address":"a:1","incarnation":"i","state":"leaving",`+
		`"ttl_ms":3000,"nonce":"n","shards":[{"shard":7,"state":"closing","generation":4}]}`)
	mustWrite(t, r, claim(999_999, "", "a"))
	entries, err := b.List(t.Context(), "")
	keys := []string{}
	for _, e := range entries {
		keys = append(keys, strings.TrimPrefix(e.Key, folder))
	}
	if want := []string{"check", "nodes/a", "shards/000007", "shards/999999"}; err != nil || !slices.Equal(keys, want) {
		t.Errorf("the bucket has %q, %v, want %q", keys, err, want)
	}
}

// What is not ours is not listed, and is in nobody's way.
func TestOL1_ForeignKeysAreIgnored(t *testing.T) {
	r, b := faulty(t)
	v := mustWrite(t, r, claim(12, "", "a"))
	for _, key := range []string{
		"shards/12", "shards/0000012", "shards/00012", "shards/000012.bak", "shards/-00001", "shards/+00001", "shards/000013/x",
		"shards/00001x", "shards/1000000", "nodes/a/b", "check/000012", "other/000001", "000012", "nodes",
	} {
		mustPut(t, b, string(r.place)+"/"+key, "{}")
	}
	mustPut(t, b, "_cluster/placement2/shards/000001", "{}")
	l, err := r.List(t.Context())
	if err != nil || !maps.Equal(l.Leases, map[int]lease.Version{12: v}) || len(l.Heartbeats) != 0 {
		t.Errorf("listed %v, %v", l, err)
	}
}

// senseless are records that nobody can make sense of, neither as a lease nor as a heartbeat.
func senseless() []string {
	return []string{
		"", " ", "null", "true", "7", `"owner"`, "[]", "{}", "{", `{"owner":`, "\xff", "\x00", "{}{}", "not JSON", "<html></html>",
		strings.Repeat("[", 20_000), `{"owner":"a"} `, `{"unknown":1}`,
	}
}

const (
	goodLease     = `{"owner":"a","address":"a:1","incarnation":"i","generation":3,"ttl_ms":15000,"nonce":"n","expires_at":1790000000000}`
	goodFree      = `{"owner":null,"expires_at":0,"generation":3}`
	goodHeartbeat = `{"heartbeat":1790000000000,"address":"a:1","incarnation":"i","state":"live","ttl_ms":15000,"nonce":"n",` +
		`"shards":[{"shard":1,"state":"running","generation":2},{"shard":5,"state":"failed","generation":0}]}`
)

// badLeases are leases with something wrong about one field.
func badLeases() []string {
	bad := senseless()
	for _, change := range [][2]string{
		{`"owner":"a"`, `"owner":7`},
		{`"owner":"a"`, `"owner":""`},
		{`"owner":"a"`, `"owner":["a"]`},
		{`"owner":"a",`, ``},
		{`"generation":3`, `"generation":-1`},
		{`"generation":3`, `"generation":"3"`},
		{`"generation":3`, `"generation":3.5`},
		{`"generation":3`, `"generation":null`},
		{`"generation":3,`, ``},
		{`"generation":3`, `"generation":18446744073709551615`},
		{`"generation":3`, `"generation":9007199254740992`}, // after which no claim could be written
		{`"generation":3`, `"generation":1e300`},
		{`"ttl_ms":15000,`, ``},
		{`"ttl_ms":15000`, `"ttl_ms":0`},
		{`"ttl_ms":15000`, `"ttl_ms":-15000`},
		{`"ttl_ms":15000`, `"ttl_ms":"15s"`},
		{`"ttl_ms":15000`, `"ttl_ms":9223372036854775807`},
		{`"ttl_ms":15000`, `"ttl_ms":86400001`},
		{`"expires_at":1790000000000`, `"expires_at":-1`},
		{`"expires_at":1790000000000`, `"expires_at":"soon"`},
		{`"expires_at":1790000000000`, `"expires_at":9223372036854775807`},
		{`"address":"a:1"`, `"address":1`},
		{`"nonce":"n"`, `"nonce":{}`},
		{`"incarnation":"i"`, `"incarnation":[]`},
		{`"nonce":"n"`, `"nonce":"` + strings.Repeat("n", maxLeaseSize) + `"`},
	} {
		bad = append(bad, strings.Replace(goodLease, change[0], change[1], 1))
	}
	return append(bad, `{"owner":null,"generation":3,"ttl_ms":-1}`, `{"owner":null}`)
}

func badHeartbeats() []string {
	bad := append(senseless(), `{"heartbeat":1790000000000}`, goodLease, goodFree)
	for _, change := range [][2]string{
		{`"state":"live",`, ``},
		{`"state":"live"`, `"state":"Live"`},
		{`"state":"live"`, `"state":1`},
		{`"heartbeat":1790000000000`, `"heartbeat":-1`},
		{`"heartbeat":1790000000000`, `"heartbeat":"now"`},
		{`"ttl_ms":15000`, `"ttl_ms":0`},
		{`"ttl_ms":15000`, `"ttl_ms":9223372036854775807`},
		{`"shard":1`, `"shard":-1`},
		{`"shard":1`, `"shard":1000000`},
		{`"shard":1`, `"shard":5`},
		{`"shard":1`, `"shard":"1"`},
		{`"state":"running"`, `"state":"open"`},
		{`"state":"running",`, ``},
		{`"generation":2`, `"generation":-2`},
		{`"generation":2`, `"generation":9007199254740992`},
		{`"shards":[`, `"shards":[7,`},
	} {
		bad = append(bad, strings.Replace(goodHeartbeat, change[0], change[1], 1))
	}
	return bad
}

// Records that make no sense are nobody's: unreadable, in their version, so that they can
// be watched and replaced. They are no error, and one does not hide the others.
func TestOL7_InvalidLeases(t *testing.T) {
	r, b := faulty(t)
	mustPut(t, b, r.place.shard(1), goodLease)
	for i, bad := range badLeases() {
		v := lease.Version(mustPut(t, b, r.place.shard(2), bad))
		l, err := r.ReadLease(t.Context(), 2)
		if err != nil || l != (lease.Lease{Shard: 2, Version: v, Unreadable: true}) {
			t.Errorf("%d: %.200q reads %+v, %v", i, bad, l, err)
		}
		listing, err := r.List(t.Context())
		if err != nil || len(listing.Leases) != 2 || listing.Leases[2] != v {
			t.Errorf("%d: listed %v, %v", i, listing, err)
		}
		mustWrite(t, r, claim(2, v, "a"))
		if l, err := r.ReadLease(t.Context(), 2); err != nil || l.Unreadable || l.Record.Owner != "a" {
			t.Errorf("%d: replaced, it reads %+v, %v", i, l, err)
		}
	}
}

func TestOL7_InvalidHeartbeats(t *testing.T) {
	r, b := faulty(t)
	for i, bad := range badHeartbeats() {
		v := lease.Version(mustPut(t, b, r.place.node("x"), bad))
		got, err := r.ReadHeartbeat(t.Context(), "x")
		want := lease.Beat{Version: v, Heartbeat: lease.Heartbeat{Node: "x"}, Unreadable: true}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%d: %.200q reads %+v, %v", i, bad, got, err)
		}
	}
}

// Keys of newer versions do not matter, nor does the order of things.
func TestOL7_TolerantReading(t *testing.T) {
	r, b := faulty(t)
	mustPut(t, b, r.place.shard(1), `{"zone":{"a":[1]},`+goodLease[1:])
	mustPut(t, b, r.place.shard(2), goodFree)
	shuffled := strings.Replace(goodHeartbeat, `"shards":[`, `"load":1.5,"shards":[{"shard":9,"state":"opening","generation":1,"since":7},`, 1)
	mustPut(t, b, r.place.node("x"), shuffled)
	mustPut(t, b, r.place.shard(3), `{"owner":"a","owner":null,"generation":1}`)
	owned, err := r.ReadLease(t.Context(), 1)
	want := lease.Record{
		Owner: "a", Address: "a:1", Incarnation: "i", Generation: 3, TTL: 15 * time.Second, Nonce: "n",
		ExpiresAt: time.UnixMilli(1_790_000_000_000),
	}
	if err != nil || owned.Unreadable || owned.Record != want {
		t.Errorf("read %+v, %v", owned, err)
	}
	free, err := r.ReadLease(t.Context(), 2)
	if err != nil || free.Unreadable || free.Record != (lease.Record{Generation: 3}) {
		t.Errorf("read %+v, %v", free, err)
	}
	if last, err := r.ReadLease(t.Context(), 3); err != nil || last.Unreadable || last.Record.Owner != "" {
		t.Errorf("of two owners the last counts; read %+v, %v", last, err)
	}
	x, err := r.ReadHeartbeat(t.Context(), "x")
	held := []lease.Held{
		{Shard: 1, State: lease.Running, Generation: 2}, {Shard: 5, State: lease.Failed}, {Shard: 9, State: lease.Opening, Generation: 1},
	}
	if err != nil || x.Unreadable || !slices.Equal(x.Heartbeat.Shards, held) {
		t.Errorf("read %+v, %v", x, err)
	}
}

// What would be unreadable is not written, and the error says what is wrong with which record.
func TestSenselessRecordsAreNotWritten(t *testing.T) {
	r, b := faulty(t)
	b.ResetRequests()
	change := func(shard int, f func(*lease.Record)) error {
		l := claim(shard, "", "a")
		f(&l.Record)
		_, err := r.WriteLease(t.Context(), l)
		return err
	}
	beat := func(f func(*lease.Heartbeat)) error {
		h := lease.Heartbeat{Node: "x", State: lease.Live, TTL: time.Second}
		f(&h)
		_, err := r.WriteHeartbeat(t.Context(), lease.Beat{Heartbeat: h})
		return err
	}
	for want, err := range map[string]error{
		"write the lease of shard 1: ttl_ms is 0":                     change(1, func(r *lease.Record) { r.TTL = 0 }),
		"write the lease of shard 2: ttl_ms is 86400001":              change(2, func(r *lease.Record) { r.TTL = 24*time.Hour + 1 }),
		"write the lease of shard 3: generation 18446744073709551615": change(3, func(r *lease.Record) { r.Generation = math.MaxUint64 }),
		"write the lease of shard -1: there is no shard -1":           change(-1, func(*lease.Record) {}),
		"write the lease of shard 1000000: there is no shard":         change(1_000_000, func(*lease.Record) {}),
		"write the lease of shard 4: it is too large":                 change(4, func(r *lease.Record) { r.Nonce = strings.Repeat("n", maxLeaseSize) }),
		`write the heartbeat of node "x": state is ""`:                beat(func(h *lease.Heartbeat) { h.State = "" }),
		`write the heartbeat of node "x": shard 7 is listed twice`: beat(func(h *lease.Heartbeat) {
			h.Shards = []lease.Held{{Shard: 7, State: lease.Running}, {Shard: 7, State: lease.Closing}}
		}),
		`write the heartbeat of node "x": shard 7 has state "closed"`: beat(func(h *lease.Heartbeat) { h.Shards = []lease.Held{{Shard: 7, State: "closed"}} }),
		`write the heartbeat of node "x": ttl_ms is -1000: it mus`:    beat(func(h *lease.Heartbeat) { h.TTL = -time.Second }),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if n := b.Requests(15, "*"); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

// A time to live is never written as shorter than it is, and a wall clock that is far off
// keeps nobody from writing.
func TestTimesAreWrittenInMilliseconds(t *testing.T) {
	r, _ := faulty(t)
	for i, test := range []struct {
		ttl, wantTTL time.Duration
		at, wantAt   time.Time
	}{
		{time.Nanosecond, time.Millisecond, time.UnixMilli(5), time.UnixMilli(5)},
		{time.Second + 1, time.Second + time.Millisecond, time.UnixMilli(5).Add(999_999), time.UnixMilli(5)},
		{24 * time.Hour, 24 * time.Hour, time.Date(-5, 1, 1, 0, 0, 0, 0, time.UTC), time.Time{}},
		{time.Second, time.Second, time.Date(12_000, 1, 1, 0, 0, 0, 0, time.UTC), time.UnixMilli(endOfTime)},
		{time.Second, time.Second, time.Time{}, time.Time{}},
	} {
		l := claim(i, "", "a")
		l.Record.TTL, l.Record.ExpiresAt = test.ttl, test.at
		mustWrite(t, r, l)
		got, err := r.ReadLease(t.Context(), i)
		if err != nil || got.Unreadable || got.Record.TTL != test.wantTTL || !got.Record.ExpiresAt.Equal(test.wantAt) {
			t.Errorf("%v until %v reads %+v, %v", test.ttl, test.at, got, err)
		}
	}
}

// Whatever is in the bucket, reading it does not panic, and what can be read can be written
// and is the same then.
func FuzzLease(f *testing.F) {
	for _, seed := range append(badLeases(), goodLease, goodFree) {
		if len(seed) < 1_000 {
			f.Add([]byte(seed))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := decodeLease(data)
		if err != nil {
			return
		}
		again, err := encodeLease(r)
		if err != nil {
			t.Fatalf("%q reads %+v, which cannot be written: %v", data, r, err)
		}
		back, err := decodeLease(again)
		if r.Owner == "" {
			r.ExpiresAt = time.Time{}
		}
		if err != nil || back != r {
			t.Fatalf("%q reads %+v, then %+v, %v", data, r, back, err)
		}
	})
}

func FuzzHeartbeat(f *testing.F) {
	for _, seed := range append(badHeartbeats(), goodHeartbeat) {
		if len(seed) < 1_000 {
			f.Add([]byte(seed))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := decodeHeartbeat("x", data)
		if err != nil {
			return
		}
		again, err := encodeHeartbeat(h)
		if err != nil {
			t.Fatalf("%q reads %+v, which cannot be written: %v", data, h, err)
		}
		if back, err := decodeHeartbeat("x", again); err != nil || !reflect.DeepEqual(back, h) {
			t.Fatalf("%q reads %+v, then %+v, %v", data, h, back, err)
		}
	})
}

// The heartbeat of a node that holds every shard there can be is below the limit, and one
// of a node with a thousand is read and written in no time.
func TestLargeHeartbeats(t *testing.T) {
	h := lease.Heartbeat{Node: "x", State: lease.Live, TTL: time.Second}
	for n := range 1_000 {
		h.Shards = append(h.Shards, lease.Held{Shard: 999_000 + n, State: lease.Opening, Generation: highestRead})
	}
	data, err := encodeHeartbeat(h)
	if err != nil || len(data)*1_000 > maxHeartbeatSize {
		t.Errorf("a thousand shards take %d bytes, %v", len(data), err)
	}
	if !json.Valid(data) {
		t.Error("it is no JSON")
	}
	back, err := decodeHeartbeat("x", data)
	if err != nil || len(back.Shards) != 1_000 {
		t.Errorf("%d shards were read, %v", len(back.Shards), err)
	}
}
