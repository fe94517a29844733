//go:build cgo && (linux || darwin)

package slatedb

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"
	"unsafe"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/slap-go/slap/store"
)

func writeMany(t *testing.T, db *DB, n int) {
	t.Helper()
	for i := range n {
		_, err := db.Put(t.Context(), fmt.Append(nil, i), []byte("value"), nil)
		require.NoError(t, err)
	}
	require.NoError(t, db.Flush(t.Context(), WAL))
}

func TestMetricsOfDatabases(t *testing.T) {
	m, collect := newMetrics(t)
	s := openStore(t, store.Memory())
	seven, eight := attribute.Int("shard", 7), attribute.Int("shard", 8)
	a := openDB(t, s, "a", &Options{Metrics: m.With(seven)})
	b := openDB(t, s, "b", &Options{Metrics: m.With(eight)})
	c := openDB(t, s, "c", &Options{Metrics: m.With(eight)})
	writeMany(t, a, 10)
	writeMany(t, b, 20)
	writeMany(t, c, 30)

	got := collect()
	require.Equal(t, int64(10), got.sum(t, "slatedb.db.write_ops", seven))
	require.Equal(t, int64(50), got.sum(t, "slatedb.db.write_ops", eight))
	require.Equal(t, "{count}", got["slatedb.db.write_ops"].Unit)
	require.Equal(t, "By", got["slatedb.wal.wal_flush_bytes"].Unit)
	require.True(t, got["slatedb.db.write_ops"].Data.(metricdata.Sum[int64]).IsMonotonic)
	require.IsType(t, metricdata.Gauge[int64]{}, got["slatedb.db.l0_sst_count"].Data)
	require.GreaterOrEqual(t, len(got), 40)

	require.NoError(t, c.Close(t.Context(), nil))
	writeMany(t, b, 1)
	require.Equal(t, int64(51), collect().sum(t, "slatedb.db.write_ops", eight), "a counter never goes down")

	c = openDB(t, s, "c", &Options{Metrics: m.With(eight)})
	writeMany(t, c, 1)
	require.Equal(t, int64(52), collect().sum(t, "slatedb.db.write_ops", eight))

	require.NoError(t, m.Close())
	require.NoError(t, m.Close(), "twice is harmless")
	require.NotContains(t, collect(), "slatedb.db.write_ops")
	openDB(t, s, "late", &Options{Metrics: m})
}

func TestMetricsDescriptionsAreText(t *testing.T) {
	m, collect := newMetrics(t)
	writeMany(t, openDB(t, openStore(t, store.Memory()), "a", &Options{Metrics: m}), 1)
	got := collect()
	require.GreaterOrEqual(t, len(got), 40)
	described := 0
	for name, metric := range got {
		require.True(t, utf8.ValidString(metric.Description), name)
		require.NotContainsf(t, strings.Map(blankControl, metric.Description), "\x00", "%s: %q", name, metric.Description)
		if metric.Description != "" {
			described++
		}
	}
	require.Positive(t, described)
}

// blankControl makes every control character a zero.
func blankControl(r rune) rune {
	if unicode.IsControl(r) {
		return 0
	}
	return r
}

func TestMetricsHaveNoNewAttributesAtEveryOpen(t *testing.T) {
	m, collect := newMetrics(t)
	s := openStore(t, store.Memory())
	for range 5 {
		db := openDB(t, s, "a", &Options{Metrics: m})
		writeMany(t, db, 1)
		require.NoError(t, db.Close(t.Context(), nil))
	}
	for name, metric := range collect() {
		if sum, ok := metric.Data.(metricdata.Sum[int64]); ok {
			for _, p := range sum.DataPoints {
				require.False(t, p.Attributes.HasValue("worker_id"), name)
			}
			require.Less(t, len(sum.DataPoints), 60, name)
		}
	}
	require.Equal(t, int64(5), collect().sum(t, "slatedb.db.write_ops"))
}

func TestMetricsReplayHistograms(t *testing.T) {
	const name, requests = "slatedb.object_store.request_duration_seconds", "slatedb.object_store.request_count"
	m, collect := newMetrics(t)
	s := openStore(t, store.Memory())
	db := openDB(t, s, "a", &Options{Metrics: m})
	writeMany(t, db, 10)
	collect()
	writeMany(t, db, 10)
	require.NoError(t, db.Close(t.Context(), nil))
	got := collect()
	histogram, ok := got[name].Data.(metricdata.Histogram[float64])
	require.True(t, ok)
	require.Equal(t, "s", got[name].Unit)
	var count uint64
	for _, p := range histogram.DataPoints {
		count += p.Count
		require.GreaterOrEqual(t, p.Sum, 0.0)
		require.Less(t, p.Sum, 60.0)
		require.Equal(t, []float64{0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}, p.Bounds)
	}
	list := got.sum(t, requests, attribute.String("api", "list")) + got.sum(t, requests, attribute.String("api", "list_with_offset"))
	require.Equal(t, uint64(got.sum(t, requests)-list), count, "the engine times all but the lists")
}

func TestMetricsWhileDatabasesComeAndGo(t *testing.T) {
	m, collect := newMetrics(t)
	s := openStore(t, store.Memory())
	stop := make(chan struct{})
	var collecting, opening sync.WaitGroup
	collecting.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				collect()
			}
		}
	})
	for i := range 4 {
		opening.Go(func() {
			for range 10 {
				db, err := Open(t.Context(), s, fmt.Sprint(i), &Options{Metrics: m})
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := db.Put(t.Context(), []byte("k"), nil, nil); err != nil {
					t.Error(err)
				}
				if err := db.Close(t.Context(), nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
	opening.Wait()
	close(stop)
	collecting.Wait()
	require.Eventually(t, func() bool { return collect().sum(t, "slatedb.db.write_ops") == 40 }, waitLong, pollOften)
}

// TestReplay measures at random and compares what OpenTelemetry would see.
func TestReplay(t *testing.T) {
	bounds := []float64{0.001, 0.01, 0.1, 1}
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		var r replay
		buckets, sum := make([]uint64, len(bounds)+1), 0.0
		replayed, total := make([]uint64, len(bounds)+1), 0.0
		for range 5 {
			for range random.IntN(20) {
				v := math.Pow(10, random.Float64()*6-4)
				buckets[bucketOf(bounds, v)]++
				sum += v
			}
			for _, o := range r.next(bounds, buckets, sum) {
				replayed[bucketOf(bounds, o.value)] += o.times
				total += o.value * float64(o.times)
			}
			require.Equal(t, buckets, replayed, "seed %d", seed)
			require.InEpsilon(t, sum+1, total+1, 0.01, "seed %d", seed)
		}
	}
}

func bucketOf(bounds []float64, v float64) int {
	i := 0
	for i < len(bounds) && v > bounds[i] {
		i++
	}
	return i
}

func TestUnits(t *testing.T) {
	for name, want := range map[string]string{
		"slatedb.db.total_mem_size_bytes":                  "By",
		"slatedb.compactor.bytes_compacted":                "By",
		"slatedb.compactor.total_throughput_bytes_per_sec": "By/s",
		"slatedb.object_store.request_duration_seconds":    "s",
		"slatedb.compactor.last_compaction_timestamp_sec":  "s",
		"slatedb.db.write_ops":                             "{count}",
	} {
		require.Equal(t, want, unitOf(name), name)
	}
}

func TestLargestCounts(t *testing.T) {
	require.True(t, isLargest("slatedb.compactor.epoch"))
	require.True(t, isLargest("slatedb.db.segment_max_l0_sst_count"))
	require.True(t, isLargest("slatedb.compactor.last_compaction_timestamp_sec"))
	require.False(t, isLargest("slatedb.db.l0_sst_count"))
	s := &series{}
	for _, v := range []int64{-5, -3, -4} {
		i := &instrument{cell: new(cell)}
		*(*int64)(unsafe.Pointer(&i.cell.value)) = v
		s.members = append(s.members, &member{instrument: i})
	}
	require.Equal(t, int64(-3), s.value(true))
	require.Equal(t, int64(-12), s.value(false))
}
