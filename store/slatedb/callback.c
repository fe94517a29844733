//go:build cgo && (linux || darwin)

// Objects of Go that the engine calls. Their handles have to be odd, so they are
// addresses plus one.
#include "slate.h"

#include <stdlib.h>
#include "_cgo_export.h"

typedef struct {
  int64_t references; // atomic: the engine copies handles
  uint64_t go;        // a cgo.Handle
} foreign;

static foreign *foreign_at(uint64_t handle) { return (foreign *)(uintptr_t)(handle - 1); }

uint64_t slate_foreign(uint64_t go) {
  foreign *f = malloc(sizeof *f);
  *f = (foreign){1, go};
  return (uint64_t)(uintptr_t)f + 1;
}

static uint64_t foreign_clone(uint64_t handle) {
  __atomic_fetch_add(&foreign_at(handle)->references, 1, __ATOMIC_RELAXED);
  return handle;
}

static void foreign_free(uint64_t handle) {
  foreign *f = foreign_at(handle);
  if (__atomic_sub_fetch(&f->references, 1, __ATOMIC_ACQ_REL)) return;
  slateRelease(f->go);
  free(f);
}

static void merge(uint64_t handle, slate_buffer key, slate_buffer existing, slate_buffer operand, slate_buffer *out,
                  slate_status *status) {
  slate_buffer result = {0};
  status->code = slateMerge(foreign_at(handle)->go, key, existing, operand, &result);
  *(status->code ? &status->error : out) = result;
  slate_buffer_free(&key);
  slate_buffer_free(&existing);
  slate_buffer_free(&operand);
}

static struct {
  void (*free)(uint64_t);
  uint64_t (*clone)(uint64_t);
  void (*merge)(uint64_t, slate_buffer, slate_buffer, slate_buffer, slate_buffer *, slate_status *);
} merge_operator = {foreign_free, foreign_clone, merge};

static void log_record(uint64_t handle, slate_buffer record, void *out, slate_status *status) {
  (void)out, (void)status;
  slateLog(foreign_at(handle)->go, record);
  slate_buffer_free(&record);
}

static struct {
  void (*free)(uint64_t);
  uint64_t (*clone)(uint64_t);
  void (*log)(uint64_t, slate_buffer, void *, slate_status *);
} log_callback = {foreign_free, foreign_clone, log_record};

// A metric counts in C, where the engine does it often, and is read from Go.
static uint64_t metric_new(uint64_t recorder, uint8_t kind, slate_buffer name, slate_buffer description,
                           slate_buffer labels, slate_buffer bounds) {
  slate_metric *m = calloc(1, sizeof *m);
  m->references = 1;
  m->kind = kind;
  m->go = slateRegister(foreign_at(recorder)->go, m, name, description, labels, bounds);
  slate_buffer_free(&name);
  slate_buffer_free(&description);
  slate_buffer_free(&labels);
  slate_buffer_free(&bounds);
  return (uint64_t)(uintptr_t)m + 1;
}

static slate_metric *metric_at(uint64_t handle) { return (slate_metric *)(uintptr_t)(handle - 1); }

static uint64_t metric_clone(uint64_t handle) {
  __atomic_fetch_add(&metric_at(handle)->references, 1, __ATOMIC_RELAXED);
  return handle;
}

static void metric_free(uint64_t handle) {
  slate_metric *m = metric_at(handle);
  if (__atomic_sub_fetch(&m->references, 1, __ATOMIC_ACQ_REL)) return;
  slateUnregister(m->go); // returns when nobody reads it any more
  free(m->bounds);
  free(m->buckets);
  free(m);
}

void slate_metric_bounds(slate_metric *m, const double *bounds, uint32_t n) {
  m->bounds = malloc(n * sizeof *m->bounds + 1);
  m->buckets = calloc(n + 1, sizeof *m->buckets);
  for (uint32_t i = 0; i < n; i++) m->bounds[i] = bounds[i];
  m->bounds_count = n;
}

static void add(uint64_t handle, int64_t value, void *out, slate_status *status) {
  (void)out, (void)status;
  __atomic_fetch_add(&metric_at(handle)->value, value, __ATOMIC_RELAXED);
}

static void set(uint64_t handle, int64_t value, void *out, slate_status *status) {
  (void)out, (void)status;
  __atomic_store_n(&metric_at(handle)->value, value, __ATOMIC_RELAXED);
}

static void record(uint64_t handle, double value, void *out, slate_status *status) {
  (void)out, (void)status;
  slate_metric *m = metric_at(handle);
  uint32_t bucket = 0;
  while (bucket < m->bounds_count && value > m->bounds[bucket]) bucket++;
  if (m->buckets) __atomic_fetch_add(&m->buckets[bucket], 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(&m->value, 1, __ATOMIC_RELAXED);
  double sum, next;
  __atomic_load(&m->sum, &sum, __ATOMIC_RELAXED);
  do next = sum + value;
  while (!__atomic_compare_exchange(&m->sum, &sum, &next, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

static void register_counter(uint64_t h, slate_buffer n, slate_buffer d, slate_buffer l, uint64_t *out, slate_status *s) {
  (void)s;
  *out = metric_new(h, SLATE_COUNTER, n, d, l, (slate_buffer){0});
}

static void register_gauge(uint64_t h, slate_buffer n, slate_buffer d, slate_buffer l, uint64_t *out, slate_status *s) {
  (void)s;
  *out = metric_new(h, SLATE_GAUGE, n, d, l, (slate_buffer){0});
}

static void register_up_down(uint64_t h, slate_buffer n, slate_buffer d, slate_buffer l, uint64_t *out, slate_status *s) {
  (void)s;
  *out = metric_new(h, SLATE_UP_DOWN, n, d, l, (slate_buffer){0});
}

static void register_histogram(uint64_t h, slate_buffer n, slate_buffer d, slate_buffer l, slate_buffer b, uint64_t *out,
                               slate_status *s) {
  (void)s;
  *out = metric_new(h, SLATE_HISTOGRAM, n, d, l, b);
}

typedef void registration(uint64_t, slate_buffer, slate_buffer, slate_buffer, uint64_t *, slate_status *);
static struct {
  void (*free)(uint64_t);
  uint64_t (*clone)(uint64_t);
  registration *counter, *gauge, *up_down;
  void (*histogram)(uint64_t, slate_buffer, slate_buffer, slate_buffer, slate_buffer, uint64_t *, slate_status *);
} metrics_recorder = {foreign_free,   foreign_clone,    register_counter,
                      register_gauge, register_up_down, register_histogram};

static struct {
  void (*free)(uint64_t);
  uint64_t (*clone)(uint64_t);
  void (*update)(uint64_t, int64_t, void *, slate_status *);
} counter = {metric_free, metric_clone, add}, gauge = {metric_free, metric_clone, set};

static struct {
  void (*free)(uint64_t);
  uint64_t (*clone)(uint64_t);
  void (*record)(uint64_t, double, void *, slate_status *);
} histogram = {metric_free, metric_clone, record};

int slate_bind_callbacks(void) {
  const struct {
    const char *name;
    void *table;
  } tables[] = {
      {"mergeoperator", &merge_operator}, {"logcallback", &log_callback}, {"metricsrecorder", &metrics_recorder},
      {"counter", &counter},              {"updowncounter", &counter},    {"gauge", &gauge},
      {"histogram", &histogram},
  };
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
    void (*init)(void *) = (void (*)(void *))slate_find("fn_init_callback_vtable_", tables[i].name);
    if (!init) return -1;
    init(tables[i].table);
  }
  return 0;
}
