package slatedb

import (
	"encoding/binary"
	"runtime"
)

// A Cache is a block cache that several databases share. It is safe for
// concurrent use.
type Cache struct {
	id   uint64
	life lifetime
}

// cacheShardsPerCPU keeps callers on different processors out of each other's way.
const cacheShardsPerCPU = 4

// NewCache makes a cache of that many bytes. It must be closed.
func NewCache(bytes uint64) (*Cache, error) {
	if bytes == 0 {
		return nil, invalid("a cache needs at least one byte; Options.NoCache works without")
	}
	if err := load(); err != nil {
		return nil, err
	}
	options := binary.BigEndian.AppendUint64(nil, bytes)
	options = binary.BigEndian.AppendUint64(options, uint64(cacheShardsPerCPU*runtime.GOMAXPROCS(0)))
	id, err := call(cacheNew, 0, 0, 0, options, nil)
	if err != nil {
		return nil, err
	}
	return &Cache{id: id}, nil
}

// Close gives the cache up. Databases opened with it keep it until they are
// closed; opening another one with it is an [ErrClosed]. It may be called more
// than once.
func (c *Cache) Close() {
	if _, last := c.life.close(); last {
		freeObject(objectCache, c.id)
	}
}

// hand gives the cache to a builder.
func (c *Cache) hand(m method, builder, id uint64) error {
	ok, last := c.life.use()
	if ok {
		_, err := call(m, builder, c.id, id, nil, nil)
		last = c.life.release()
		if last {
			freeObject(objectCache, c.id)
		}
		return err
	}
	if last {
		freeObject(objectCache, c.id)
	}
	return closed(ReasonClean, "the cache was closed")
}
