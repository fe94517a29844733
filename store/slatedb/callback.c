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

static uint64_t foreign_new(uint64_t go) {
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

// merge gives the record of an optional value and of bytes to Go without copies.
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

uint64_t slate_merge_operator(uint64_t go) { return foreign_new(go); }

int slate_bind_callbacks(void) {
  void (*set)(void *) = (void (*)(void *))slate_find("fn_init_callback_vtable_", "mergeoperator");
  if (!set) return -1;
  set(&merge_operator);
  return 0;
}
