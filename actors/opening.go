package actors

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/slap-go/slap/store/slatedb"
)

// errOpenAbandoned and errCloseAbandoned say that the engine's work goes on
// without anybody waiting for it.
var (
	errOpenAbandoned  = errors.New("the database did not open in time; it is closed once it has opened")
	errCloseAbandoned = errors.New("the database did not close in time; the close goes on")
)

// opening is one open of a database. Whoever waits for it may give up; then a
// late success is closed at once, without a flush, since the shard may be open
// elsewhere by then.
type opening struct {
	done chan struct{} // closed when the open has ended

	mu       sync.Mutex
	db       *slatedb.DB
	err      error
	inFlight *atomic.Bool // set once it is abandoned; true until nothing of it goes on
}

// open begins the open and calls ended, on a goroutine of the engine's, when it
// has ended.
func open(objects *slatedb.ObjectStore, path string, o *slatedb.Options, ended func()) *opening {
	p := &opening{done: make(chan struct{})}
	slatedb.OpenAsync(objects, path, o, func(db *slatedb.DB, err error) {
		p.finish(db, err)
		ended()
	})
	return p
}

func (p *opening) finish(db *slatedb.DB, err error) {
	p.mu.Lock()
	p.db, p.err = db, err
	inFlight := p.inFlight
	p.mu.Unlock()
	close(p.done)
	switch {
	case inFlight == nil:
	case db == nil:
		inFlight.Store(false)
	default:
		db.CloseAsync(&slatedb.CloseOptions{SkipFlush: true}, func(error) { inFlight.Store(false) })
	}
}

// result is the database or the error, once done is closed.
func (p *opening) result() (*slatedb.DB, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.db, p.err
}

// wait waits for the end of the open until ctx ends. Then the open is abandoned,
// and inFlight is true until nothing of it goes on.
func (p *opening) wait(ctx context.Context, inFlight *atomic.Bool) (*slatedb.DB, error) {
	select {
	case <-p.done:
		return p.result()
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.db != nil || p.err != nil { // it ended meanwhile
		return p.db, p.err
	}
	inFlight.Store(true)
	p.inFlight = inFlight
	return nil, errOpenAbandoned
}
