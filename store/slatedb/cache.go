package slatedb

import (
	"encoding/binary"
	"runtime"
	"sync"
)

// A Cache is a block cache that several databases share.
type Cache struct {
	id   uint64
	once sync.Once
}

// NewCache makes a cache of that many bytes.
func NewCache(bytes uint64) (*Cache, error) {
	if bytes == 0 {
		return nil, invalid("a cache needs at least one byte; set Options.NoCache for none")
	}
	if err := load(); err != nil {
		return nil, err
	}
	options := binary.BigEndian.AppendUint64(nil, bytes)
	options = binary.BigEndian.AppendUint64(options, uint64(4*runtime.GOMAXPROCS(0))) // shards
	id, err := call(cacheNew, 0, 0, 0, options, nil)
	if err != nil {
		return nil, err
	}
	return &Cache{id: id}, nil
}

// Close gives the cache up. Databases opened with it keep using it until they
// are closed; no further database may be opened with it.
func (c *Cache) Close() { c.once.Do(func() { freeObject(objectCache, c.id) }) }
