//go:build cgo && (linux || darwin)

// Calling the engine: arguments into its buffers, one switch over signatures.
#include "slate.h"

#include <string.h>

slate_buffer slate_raw(const uint8_t *p, uint64_t n) {
  slate_status status = {0};
  slate_buffer b = slate_rustbuffer_alloc(n, &status);
  if (n) memcpy(b.data, p, n);
  b.len = n;
  return b;
}

static void put_length(uint8_t *p, uint64_t n) {
  p[0] = (uint8_t)(n >> 24);
  p[1] = (uint8_t)(n >> 16);
  p[2] = (uint8_t)(n >> 8);
  p[3] = (uint8_t)n;
}

// fill makes an argument of bytes in a buffer of the engine.
static slate_buffer fill(slate_buffer b, const uint8_t *p, uint64_t n) {
  put_length(b.data, n);
  if (n) memcpy(b.data + 4, p, n);
  b.len = n + 4;
  return b;
}

slate_buffer slate_bytes(const uint8_t *p, uint64_t n) {
  slate_status status = {0};
  return fill(slate_rustbuffer_alloc(n + 4, &status), p, n);
}

// first_bytes is slate_bytes in the buffer of the record's last result, which
// nobody needs any more, if that is large enough.
static slate_buffer first_bytes(slate_op *op, const uint8_t *p, uint64_t n) {
  slate_buffer b = op->out;
  if (b.capacity < n + 4) {
    slate_buffer_free(&op->out);
    return slate_bytes(p, n);
  }
  op->out = (slate_buffer){0};
  return fill(b, p, n);
}

void slate_buffer_free(slate_buffer *b) {
  slate_status status = {0};
  if (b->capacity) slate_rustbuffer_free(*b, &status);
  *b = (slate_buffer){0};
}

// clone makes a handle for a call to consume.
static uint64_t clone(uint8_t object, uint64_t handle) {
  slate_status status = {0};
  return slate_objects[object].clone(handle, &status);
}

void slate_free(uint32_t object, uint64_t handle) {
  slate_status status = {0};
  slate_objects[object].free(handle, &status);
}

static void end(slate_op *op, slate_status *status) {
  op->code = status->code;
  if (status->code) op->out = status->error;
}

typedef slate_status *S;
typedef slate_buffer R;
typedef uint64_t H;

static uint32_t number(const uint8_t *p) {
  uint32_t v;
  memcpy(&v, p, sizeof v);
  return v;
}

// add puts one entry of an encoded batch into the engine's batch and returns
// the next entry: kind u8, key length u32, value length u32, TTL length u8, key,
// value, TTL; the numbers in the machine's own order.
static const uint8_t *add(H batch, const uint8_t *p, S status) {
  uint8_t kind = p[0];
  uint64_t kn = number(p + 1), vn = number(p + 5), tn = p[9];
  const uint8_t *k = p + 10, *v = k + kn, *t = v + vn;
  void *call = slate_methods[kind].call;
  H self = clone(SLATE_OBJECT_BATCH, batch);
  switch (kind) {
  case SLATE_BATCH_DELETE:
    ((void (*)(H, R, S))call)(self, slate_bytes(k, kn), status);
    break;
  case SLATE_BATCH_PUT:
  case SLATE_BATCH_MERGE:
    ((void (*)(H, R, R, S))call)(self, slate_bytes(k, kn), slate_bytes(v, vn), status);
    break;
  default:
    ((void (*)(H, R, R, R, S))call)(self, slate_bytes(k, kn), slate_bytes(v, vn), slate_raw(t, tn), status);
  }
  return t + tn;
}

static int start_batch(slate_op *op, const slate_method *m, H self, const uint8_t *p, uint64_t n) {
  slate_status status = {0};
  H batch = ((H(*)(S))slate_methods[SLATE_BATCH_NEW].call)(&status);
  for (const uint8_t *end = p + n; p < end && !status.code;) p = add(batch, p, &status);
  if (status.code) {
    end(op, &status);
    slate_free(SLATE_OBJECT_BATCH, batch);
    return 1;
  }
  op->future = ((H(*)(H, H))m->call)(clone(m->self, self), batch);
  return slate_poll(op);
}

int slate_start(slate_op *op, slate_queue *q, uint32_t method, uint64_t self, const uint8_t *a, uint64_t an,
                const uint8_t *b, uint64_t bn, const uint8_t *c, uint64_t cn) {
  static const uint8_t write_options[8]; // sequence number 0: the engine's choice
  const slate_method *m = &slate_methods[method];
  op->queue = q;
  op->result = m->result;
  op->value = 0;
  if (m->shape != SLATE_FUTURE_B) slate_buffer_free(&op->out);
  if (m->shape == SLATE_FUTURE_BATCH) return start_batch(op, m, self, a, an);
  H h = clone(m->self, self);
  switch (m->shape) {
  case SLATE_FUTURE_H:
    op->future = ((H(*)(H))m->call)(h);
    break;
  case SLATE_FUTURE_B:
    op->future = ((H(*)(H, R))m->call)(h, first_bytes(op, a, an));
    break;
  case SLATE_FUTURE_R:
    op->future = ((H(*)(H, R))m->call)(h, slate_raw(a, an));
    break;
  case SLATE_FUTURE_BB:
    op->future = ((H(*)(H, R, R))m->call)(h, slate_bytes(a, an), slate_bytes(b, bn));
    break;
  case SLATE_FUTURE_BR:
    op->future = ((H(*)(H, R, R))m->call)(h, slate_bytes(a, an), slate_raw(b, bn));
    break;
  case SLATE_FUTURE_RR:
    op->future = ((H(*)(H, R, R))m->call)(h, slate_raw(a, an), slate_raw(b, bn));
    break;
  case SLATE_FUTURE_BBR:
    op->future = ((H(*)(H, R, R, R))m->call)(h, slate_bytes(a, an), slate_bytes(b, bn), slate_raw(c, cn));
    break;
  case SLATE_FUTURE_BRR:
    op->future = ((H(*)(H, R, R, R))m->call)(h, slate_bytes(a, an), slate_raw(b, bn), slate_raw(c, cn));
    break;
  case SLATE_FUTURE_BBR_WRITE:
    op->future = ((H(*)(H, R, R, R, R))m->call)(h, slate_bytes(a, an), slate_bytes(b, bn), slate_raw(c, cn),
                                                slate_raw(write_options, sizeof write_options));
    break;
  default: // SLATE_FUTURE_N
    op->future = ((H(*)(H, uint32_t))m->call)(h, (uint32_t)an);
  }
  return slate_poll(op);
}

void slate_call(slate_op *op, uint32_t method, uint64_t self, uint64_t handle, uint64_t n, const uint8_t *a,
                uint64_t an, const uint8_t *b, uint64_t bn) {
  slate_status status = {0};
  const slate_method *m = &slate_methods[method];
  op->value = 0;
  slate_buffer_free(&op->out);
  if (m->self) self = clone(m->self, self);
  if (m->argument) handle = clone(m->argument, handle);
  switch (m->shape) {
  case SLATE_NEW:
    op->value = ((H(*)(S))m->call)(&status);
    break;
  case SLATE_NEW_R:
    op->value = ((H(*)(R, S))m->call)(slate_raw(a, an), &status);
    break;
  case SLATE_NEW_RH:
    op->value = ((H(*)(R, H, S))m->call)(slate_raw(a, an), handle, &status);
    break;
  case SLATE_BUILD:
    op->value = ((H(*)(H, S))m->call)(self, &status);
    break;
  case SLATE_READ:
    op->out = ((R(*)(H, S))m->call)(self, &status);
    break;
  case SLATE_SET:
    ((void (*)(H, S))m->call)(self, &status);
    break;
  case SLATE_SET_H:
    ((void (*)(H, H, S))m->call)(self, handle, &status);
    break;
  case SLATE_SET_HN:
    ((void (*)(H, H, uint64_t, S))m->call)(self, handle, n, &status);
    break;
  case SLATE_SET_R:
    ((void (*)(H, R, S))m->call)(self, slate_raw(a, an), &status);
    break;
  case SLATE_SET_RR:
    ((void (*)(H, R, R, S))m->call)(self, slate_raw(a, an), slate_raw(b, bn), &status);
    break;
  default: // SLATE_GLOBAL_RR
    ((void (*)(R, R, S))m->call)(slate_raw(a, an), slate_raw(b, bn), &status);
  }
  end(op, &status);
}

static uint64_t big_endian(const uint8_t *p, int n) {
  uint64_t v = 0;
  while (n--) v = v << 8 | *p++;
  return v;
}

slate_db_status slate_read_status(uint32_t method, uint64_t self) {
  slate_status status = {0};
  const slate_method *m = &slate_methods[method];
  slate_buffer b = ((R(*)(H, S))m->call)(clone(m->self, self), &status);
  slate_db_status s = {.code = status.code};
  if (status.code) {
    slate_buffer_free(&status.error);
    return s;
  }
  s.durable_seq = big_endian(b.data, 8);
  if (b.data[8]) s.close_reason = (int32_t)big_endian(b.data + 9, 4);
  slate_buffer_free(&b);
  return s;
}
