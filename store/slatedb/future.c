//go:build cgo && (linux || darwin)

// Driving the engine's futures and queueing the operations that can go on.
#include "slate.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/eventfd.h>
#endif

// The states of an operation. A callback may come before the poll returns, on
// the same thread, or later on one of the engine's threads, once per poll.
enum { POLLING, WAITING, SIGNALED };

static void enqueue(slate_op *op) {
  slate_queue *q = op->queue; // op may be gone once it is in the queue
  slate_op *head = __atomic_load_n(&q->head, __ATOMIC_RELAXED);
  do {
    op->next = head;
  } while (!__atomic_compare_exchange_n(&q->head, &head, op, 1, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
  if (head) return; // whoever queued that one wakes the reader
  uint64_t one = 1;
  ssize_t n = write(q->write_fd, &one, sizeof one);
  (void)n; // it fails only when the reader has wake-ups enough
}

static void signaled(uint64_t data, int8_t code) {
  slate_op *op = (slate_op *)(uintptr_t)data;
  op->polled = code;
  if (__atomic_exchange_n(&op->state, SIGNALED, __ATOMIC_ACQ_REL) == WAITING) enqueue(op);
}

static uint64_t sequence(uint64_t write_handle, slate_status *status) {
  uint64_t (*call)(uint64_t, slate_status *) = slate_methods[SLATE_WRITE_SEQ].call;
  return call(write_handle, status); // takes the handle
}

// commit_sequence reads an optional write handle.
static uint64_t commit_sequence(slate_buffer *b, slate_status *status) {
  uint64_t handle = 0;
  if (b->len == 9 && b->data[0])
    for (int i = 1; i < 9; i++) handle = handle << 8 | b->data[i];
  slate_buffer_free(b);
  return handle ? sequence(handle, status) : 0;
}

static void complete(slate_op *op) {
  slate_status status = {0};
  switch (op->result) {
  case SLATE_VOID:
    slate_rust_future_complete_void(op->future, &status);
    slate_rust_future_free_void(op->future);
    break;
  case SLATE_VALUE:
  case SLATE_WRITE:
    op->value = slate_rust_future_complete_u64(op->future, &status);
    slate_rust_future_free_u64(op->future);
    if (!status.code && op->result == SLATE_WRITE) op->value = sequence(op->value, &status);
    break;
  default:
    op->out = slate_rust_future_complete_rust_buffer(op->future, &status);
    slate_rust_future_free_rust_buffer(op->future);
    if (!status.code && op->result == SLATE_COMMIT) op->value = commit_sequence(&op->out, &status);
  }
  op->code = status.code;
  if (status.code) op->out = status.error;
}

static void poll_once(slate_op *op) {
  switch (op->result) {
  case SLATE_VOID:
    slate_rust_future_poll_void(op->future, signaled, (uint64_t)(uintptr_t)op);
    break;
  case SLATE_VALUE:
  case SLATE_WRITE:
    slate_rust_future_poll_u64(op->future, signaled, (uint64_t)(uintptr_t)op);
    break;
  default:
    slate_rust_future_poll_rust_buffer(op->future, signaled, (uint64_t)(uintptr_t)op);
  }
}

int slate_poll(slate_op *op) {
  do {
    __atomic_store_n(&op->state, POLLING, __ATOMIC_RELEASE);
    poll_once(op);
    int32_t polling = POLLING;
    if (__atomic_compare_exchange_n(&op->state, &polling, WAITING, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return 0;
  } while (op->polled != 0);
  complete(op);
  return 1;
}

int slate_resume(slate_op *op) {
  if (op->polled != 0) return slate_poll(op);
  complete(op);
  return 1;
}

void slate_resume_all(slate_op **ops, int n, uint8_t *done) {
  for (int i = 0; i < n; i++) done[i] = (uint8_t)slate_resume(ops[i]);
}

#ifdef __linux__
static int wake_fds(int fds[2]) {
  fds[0] = fds[1] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  return fds[0];
}
#else
static int wake_fds(int fds[2]) {
  if (pipe(fds)) return -1;
  for (int i = 0; i < 2; i++) {
    fcntl(fds[i], F_SETFL, O_NONBLOCK);
    fcntl(fds[i], F_SETFD, FD_CLOEXEC);
  }
  return fds[0];
}
#endif

slate_queue *slate_queue_new(void) {
  int fds[2];
  if (wake_fds(fds) < 0) return NULL;
  slate_queue *q = calloc(1, sizeof *q);
  q->read_fd = fds[0];
  q->write_fd = fds[1];
  return q;
}

void slate_queue_free(slate_queue *q) {
  if (q->write_fd != q->read_fd) close(q->write_fd);
  free(q);
}

slate_op *slate_queue_take(slate_queue *q) { return __atomic_exchange_n(&q->head, NULL, __ATOMIC_ACQUIRE); }
