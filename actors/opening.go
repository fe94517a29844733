package actors

import (
	"context"
	"errors"
	"sync"

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

	mu        sync.Mutex
	db        *slatedb.DB
	err       error
	abandoned bool
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
	abandoned := p.abandoned
	p.mu.Unlock()
	close(p.done)
	if abandoned && db != nil {
		db.CloseAsync(&slatedb.CloseOptions{SkipFlush: true}, func(error) {})
	}
}

// result is the database or the error, once done is closed.
func (p *opening) result() (*slatedb.DB, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.db, p.err
}

// abandon gives up the open if it has not ended.
func (p *opening) abandon() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.done:
	default:
		p.abandoned = true
	}
}

// wait waits for the end of the open until ctx ends; then the open is abandoned.
func (p *opening) wait(ctx context.Context) (*slatedb.DB, error) {
	select {
	case <-p.done:
	case <-ctx.Done():
		p.abandon()
	}
	select {
	case <-p.done:
		return p.result()
	default:
		return nil, errOpenAbandoned
	}
}
