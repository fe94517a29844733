//go:build cgo && (linux || darwin)

// Loading the engine's library and finding its functions.
#include "slate.h"

#include <dlfcn.h>
#include <stdio.h>

#define PREFIX "uniffi_slatedb_uniffi_"

static void *library;

slate_method slate_methods[SLATE_METHODS];
slate_object slate_objects[SLATE_OBJECTS];

#define DEFINE(result, name, arguments) result(*slate_##name) arguments;
SLATE_FFI(DEFINE)

int slate_open(const char *path, uint32_t *contract, char *error, size_t n) {
  library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    snprintf(error, n, "%s", dlerror());
    return -1;
  }
#define FIND(result, name, arguments)                                                     \
  slate_##name = (result(*) arguments)dlsym(library, "ffi_slatedb_uniffi_" #name);        \
  if (!slate_##name) {                                                                    \
    snprintf(error, n, "it has no function ffi_slatedb_uniffi_%s", #name);                \
    return -1;                                                                            \
  }
  SLATE_FFI(FIND)
  *contract = slate_uniffi_contract_version();
  return 0;
}

void *slate_find(const char *kind, const char *name) {
  char symbol[192];
  snprintf(symbol, sizeof symbol, PREFIX "%s%s", kind, name);
  return dlsym(library, symbol);
}

// slate_bind finds a function and returns its checksum, or -1.
int32_t slate_bind(uint32_t method, const char *name, uint8_t shape, uint8_t result, uint8_t self, uint8_t argument) {
  uint16_t (*checksum)(void) = (uint16_t(*)(void))slate_find("checksum_", name);
  void *call = slate_find("fn_", name);
  if (!checksum || !call || method >= SLATE_METHODS) return -1;
  slate_methods[method] = (slate_method){call, shape, result, self, argument};
  return checksum();
}

// slate_bind_object finds the functions that copy and free a kind of handle.
int slate_bind_object(uint32_t object, const char *name) {
  slate_object *o = &slate_objects[object];
  o->clone = (uint64_t(*)(uint64_t, slate_status *))slate_find("fn_clone_", name);
  o->free = (void (*)(uint64_t, slate_status *))slate_find("fn_free_", name);
  return o->clone && o->free ? 0 : -1;
}
