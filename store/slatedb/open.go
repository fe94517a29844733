package slatedb

import "context"

// Options says how to open a database. The zero value is the engine's own
// defaults, but for max_unflushed_bytes: four tables of l0_sst_size_bytes.
type Options struct {
	// Settings are the engine's settings that differ from its defaults, merged
	// into them by key at any depth. An unknown key is an error.
	Settings map[string]any

	// Cache is the block cache, shared with other databases. Nil: a cache of its own.
	Cache *Cache
	// CacheID is the database's name in Cache: unlike that of every other
	// database in it, and the same at every open.
	CacheID uint64
	// NoCache works without a block cache. Cache must be nil.
	NoCache bool

	// MergeOperator combines what [DB.Merge] adds. Without one, merges and reads
	// of merged keys are an [ErrInvalid].
	MergeOperator MergeOperator

	// Metrics is where the engine's metrics go. Nil: nowhere.
	Metrics *Metrics

	// OnWrite is called with the sequence number of each write to the database,
	// its transactions included, before the write's caller hears of it, and also
	// when that gave up waiting. It runs on the goroutine that completes the
	// write and must not block.
	OnWrite func(seq uint64)

	merged string // all settings, once prepared
}

// Prepare merges the settings into the engine's defaults now, for all opens with these
// options and with copies of them; later changes of Settings have no effect. Errors are
// those of an open.
func (o *Options) Prepare() (err error) {
	o.merged, err = settingsJSON(o.Settings)
	return err
}

// Open opens a database, or creates it if there is none. Its path is relative to
// the store. Whoever has it open is fenced.
//
// While the object store is away, or refuses its credentials, it waits until the
// context ends. Then the open goes on, and if it succeeds in the end the database
// is closed at once without a flush; [ObjectStore.Close] waits for that.
func Open(ctx context.Context, s *ObjectStore, path string, o *Options) (*DB, error) {
	return await(ctx, (*op).db, func(c *op) bool { return s.openDB(c, path, o) })
}

// OpenAsync is [Open] without waiting; see the package for done.
func OpenAsync(s *ObjectStore, path string, o *Options, done func(*DB, error)) {
	launch((*op).db, done, func(c *op) bool { return s.openDB(c, path, o) })
}

func (o *op) db() (*DB, error) {
	h, err := o.handle()
	if err != nil {
		return nil, err
	}
	return newDB(h), nil
}

func (s *ObjectStore) openDB(c *op, path string, o *Options) bool {
	if o == nil {
		o = &Options{}
	}
	builder, err := s.newBuilder(dbBuilderNew, path)
	if err != nil {
		return c.fail(s, err)
	}
	defer builder.close(closed(ReasonClean, "it is used up")) // freed once the operation is done
	if err := o.apply(builder.id); err != nil {
		return c.fail(s, err)
	}
	builder.written = &written{told: o.OnWrite}
	return builder.start(c, dbBuilderBuild, nil, nil, nil)
}

// newBuilder makes one of the engine's builders for a path.
func (s *ObjectStore) newBuilder(m method, path string) (*handle, error) {
	if s == nil {
		return nil, invalid("the object store is nil: make one with NewObjectStore")
	}
	ok, last := s.life.use()
	if last {
		close(s.idle)
	}
	if !ok {
		return nil, closed(ReasonClean, "the object store is closed")
	}
	defer s.release()
	id, err := call(m, 0, s.id, 0, []byte(s.path(path)), nil)
	if err != nil {
		return nil, err
	}
	return newHandle(s, methods[m].product, id), nil
}

// apply hands the options to a builder.
func (o *Options) apply(builder uint64) error {
	if err := o.applySettings(builder); err != nil {
		return err
	}
	if err := applyMergeOperator(dbBuilderMerge, builder, o.MergeOperator); err != nil {
		return err
	}
	if err := applyMetrics(dbBuilderMetrics, builder, o.Metrics); err != nil {
		return err
	}
	return applyCache(dbBuilderCache, dbBuilderNoCache, builder, o.Cache, o.CacheID, o.NoCache)
}

func applyMergeOperator(m method, builder uint64, operator MergeOperator) error {
	if operator == nil {
		return nil
	}
	_, err := call(m, builder, share(operator), 0, nil, nil)
	return err
}

func applyMetrics(m method, builder uint64, metrics *Metrics) error {
	if metrics == nil {
		return nil
	}
	_, err := call(m, builder, share(metrics), 0, nil, nil)
	return err
}

func applyCache(use, none method, builder uint64, cache *Cache, id uint64, disabled bool) error {
	switch {
	case cache != nil && disabled:
		return invalid("the options have both a Cache and NoCache: set one of them")
	case cache != nil:
		return cache.hand(use, builder, id)
	case disabled:
		_, err := call(none, builder, 0, 0, nil, nil)
		return err
	}
	return nil
}

func (o *Options) applySettings(builder uint64) error {
	text := o.merged
	if text == "" {
		merged, err := settingsJSON(o.Settings)
		if err != nil {
			return err
		}
		text = merged
	}
	settings, err := call(settingsFromJSON, 0, 0, 0, []byte(text), nil)
	if err != nil {
		return err
	}
	defer freeObject(objectSettings, settings)
	_, err = call(dbBuilderSettings, builder, settings, 0, nil, nil)
	return err
}

// defaultSettings are all settings of the engine with its defaults, as JSON.
func defaultSettings() (string, error) {
	if err := load(); err != nil {
		return "", err
	}
	settings, err := call(settingsDefault, 0, 0, 0, nil, nil)
	if err != nil {
		return "", err
	}
	defer freeObject(objectSettings, settings)
	text, err := callBytes(settingsToJSON, settings)
	return string(text), err
}
