//go:build cgo && (linux || darwin)

// The C side of the binding: the engine's ABI, the operation records, and the
// queue by which finished operations reach Go. See doc.go.
#pragma once
#include <stddef.h>
#include <stdint.h>

// Bytes owned by the engine (UniFFI's RustBuffer).
typedef struct {
  uint64_t capacity, len;
  uint8_t *data;
} slate_buffer;

// How a call ended (UniFFI's RustCallStatus): 0 done, 1 typed error, 2 panic, 3 cancelled.
typedef struct {
  int8_t code;
  slate_buffer error;
} slate_status;

// The signatures of the functions used. In the names of calls that give a
// future: H nothing but the handle, B bytes, R an encoded record, N a number.
enum slate_shape {
  SLATE_CHECKED_ONLY,
  SLATE_FUTURE_H,
  SLATE_FUTURE_B,
  SLATE_FUTURE_R,
  SLATE_FUTURE_BB,
  SLATE_FUTURE_BR,
  SLATE_FUTURE_RR,
  SLATE_FUTURE_BBR,
  SLATE_FUTURE_BRR,
  SLATE_FUTURE_BBR_WRITE, // and write options
  SLATE_FUTURE_BATCH,     // a batch, encoded as batch.go says
  SLATE_FUTURE_N,
  SLATE_NEW,              // () -> handle
  SLATE_NEW_R,            // (R) -> handle
  SLATE_NEW_RH,           // (R, handle) -> handle
  SLATE_BUILD,            // (self) -> handle
  SLATE_READ,             // (self) -> R
  SLATE_SET,              // (self)
  SLATE_SET_H,            // (self, handle)
  SLATE_SET_HN,           // (self, handle, N)
  SLATE_SET_R,            // (self, R)
  SLATE_SET_RR,           // (self, R, R)
  SLATE_GLOBAL_RR,        // (R, R)
};

// What a future gives.
enum slate_result {
  SLATE_VOID,
  SLATE_VALUE,  // a number or a handle
  SLATE_BYTES,
  SLATE_WRITE,  // a write handle, turned into its sequence number
  SLATE_COMMIT, // an optional write handle, turned into its sequence number or 0
};

// Functions that C itself calls; the first entries of the table in methods.go.
enum slate_own_method {
  SLATE_BATCH_NEW,
  SLATE_BATCH_PUT,
  SLATE_BATCH_PUT_TTL,
  SLATE_BATCH_MERGE,
  SLATE_BATCH_MERGE_TTL,
  SLATE_BATCH_DELETE,
  SLATE_WRITE_SEQ,
  SLATE_DB_STATUS,
  SLATE_READER_STATUS,
};

// Objects that C itself handles; the first entries of the table in methods.go.
enum slate_own_object { SLATE_OBJECT_NONE, SLATE_OBJECT_DB, SLATE_OBJECT_BATCH, SLATE_OBJECT_READER };

struct slate_op;

// Finished operations on their way to one reader.
typedef struct {
  struct slate_op *head; // atomic
  int read_fd, write_fd; // the same eventfd on Linux, a pipe elsewhere
} slate_queue;

// One operation: a future of the engine, then its result. Records are reused
// and never freed, so that a late callback always finds one.
typedef struct slate_op {
  uint64_t future;
  uint64_t value;        // the result of SLATE_VALUE, SLATE_WRITE, SLATE_COMMIT
  slate_buffer out;      // the result of SLATE_BYTES, or the error
  slate_queue *queue;
  struct slate_op *next; // in the queue
  uint32_t index;        // of the Go half
  int32_t state;         // atomic
  uint8_t result;
  int8_t polled;         // what the callback brought: 0 ready, 1 poll again
  int8_t code;           // as slate_status
} slate_op;

typedef struct {
  uint64_t durable_seq;
  int32_t close_reason; // 0 while open
  int8_t code;
} slate_db_status;

// Loading (library.c).
int slate_open(const char *path, uint32_t *contract, char *error, size_t n);
int32_t slate_bind(uint32_t method, const char *name, uint8_t shape, uint8_t result, uint8_t self, uint8_t argument);
int slate_bind_object(uint32_t object, const char *name);
int slate_bind_callbacks(void);
void *slate_find(const char *kind, const char *name);

// Calls (call.c). Arguments are copied before they return.
int slate_start(slate_op *op, slate_queue *q, uint32_t method, uint64_t self, const uint8_t *a, uint64_t an,
                const uint8_t *b, uint64_t bn, const uint8_t *c, uint64_t cn);
void slate_call(slate_op *op, uint32_t method, uint64_t self, uint64_t handle, uint64_t number, const uint8_t *a,
                uint64_t an, const uint8_t *b, uint64_t bn);
void slate_free(uint32_t object, uint64_t handle);
slate_db_status slate_read_status(uint32_t method, uint64_t self);
slate_buffer slate_bytes(const uint8_t *p, uint64_t n); // with a length in front
slate_buffer slate_raw(const uint8_t *p, uint64_t n);
void slate_buffer_free(slate_buffer *b);

// Completion (future.c). 1 when the operation is done, 0 when it will be queued.
int slate_poll(slate_op *op);
int slate_resume(slate_op *op);
void slate_resume_all(slate_op **ops, int n, uint8_t *done);
slate_queue *slate_queue_new(void);
void slate_queue_free(slate_queue *q); // closes what Go does not
slate_op *slate_queue_take(slate_queue *q);

// What a metric is.
enum slate_metric_kind { SLATE_COUNTER, SLATE_GAUGE, SLATE_UP_DOWN, SLATE_HISTOGRAM };

// A metric's current state, written by the engine and read by Go.
typedef struct {
  int64_t references; // atomic
  uint64_t go;        // a cgo.Handle
  uint8_t kind;
  int64_t value;     // atomic; of a histogram: how many observations
  double sum;        // atomic; of a histogram
  uint64_t *buckets; // atomic; one more than bounds
  double *bounds;    // upper bounds, inclusive
  uint32_t bounds_count;
} slate_metric;

// Callbacks into Go (callback.c). slate_foreign makes the engine's handle of what
// a cgo.Handle stands for.
uint64_t slate_foreign(uint64_t go);
void slate_metric_bounds(slate_metric *m, const double *bounds, uint32_t n);

// The table of the library's functions (library.c).
typedef void slate_continuation(uint64_t data, int8_t code);
typedef struct {
  void *call;
  uint8_t shape, result;
  uint8_t self, argument; // object kinds of the handles it takes
} slate_method;
typedef struct {
  uint64_t (*clone)(uint64_t, slate_status *);
  void (*free)(uint64_t, slate_status *);
} slate_object;
#define SLATE_METHODS 128
#define SLATE_OBJECTS 32
extern slate_method slate_methods[SLATE_METHODS];
extern slate_object slate_objects[SLATE_OBJECTS];

#define SLATE_FFI(X)                                                                              \
  X(uint32_t, uniffi_contract_version, (void))                                                    \
  X(slate_buffer, rustbuffer_alloc, (uint64_t, slate_status *))                                   \
  X(void, rustbuffer_free, (slate_buffer, slate_status *))                                        \
  X(void, rust_future_poll_rust_buffer, (uint64_t, slate_continuation *, uint64_t))               \
  X(void, rust_future_poll_u64, (uint64_t, slate_continuation *, uint64_t))                       \
  X(void, rust_future_poll_void, (uint64_t, slate_continuation *, uint64_t))                      \
  X(slate_buffer, rust_future_complete_rust_buffer, (uint64_t, slate_status *))                   \
  X(uint64_t, rust_future_complete_u64, (uint64_t, slate_status *))                               \
  X(void, rust_future_complete_void, (uint64_t, slate_status *))                                  \
  X(void, rust_future_free_rust_buffer, (uint64_t))                                               \
  X(void, rust_future_free_u64, (uint64_t))                                                       \
  X(void, rust_future_free_void, (uint64_t))
#define SLATE_DECLARE(result, name, arguments) extern result(*slate_##name) arguments;
SLATE_FFI(SLATE_DECLARE)
