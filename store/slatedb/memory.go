package slatedb

import (
	"runtime"
	"sync"
	"weak"

	"github.com/slap-go/slap/store"
)

// memories are the engine's in-memory stores: one for each memory of ours, built
// once and kept as long as that lives, since every build is a store of its own.
var memories struct {
	sync.Mutex
	ids map[weak.Pointer[store.Space]]uint64
}

// newMemoryStore opens the engine's twin of a memory.
func newMemoryStore(source store.Store, space *store.Space) (*ObjectStore, error) {
	id, err := memoryID(space)
	if err != nil {
		return nil, err
	}
	s := &ObjectStore{id: id, source: source}
	return s, s.open()
}

func memoryID(space *store.Space) (uint64, error) {
	memories.Lock()
	defer memories.Unlock()
	key := weak.Make(space)
	if id, ok := memories.ids[key]; ok {
		return id, nil
	}
	id, err := buildStore("memory:///", nil)
	if err != nil {
		return 0, err
	}
	if memories.ids == nil {
		memories.ids = make(map[weak.Pointer[store.Space]]uint64)
	}
	memories.ids[key] = id
	runtime.AddCleanup(space, forgetMemory, key)
	return id, nil
}

func forgetMemory(key weak.Pointer[store.Space]) {
	memories.Lock()
	defer memories.Unlock()
	freeObject(objectStore, memories.ids[key])
	delete(memories.ids, key)
}
