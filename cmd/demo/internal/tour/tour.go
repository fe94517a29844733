// Package tour shows what the demo promises on three node processes of its own: the
// shards as they are shared out, load, a kill without warning, restarts, a clean stop, a
// fence by an intruder; and after each that no acknowledged write is gone.
package tour

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/slap-go/slap/cmd/demo/internal/load"
	"github.com/slap-go/slap/store"
)

// What the tour is made of.
const (
	shards  = 8
	clients = 48
	ttl     = 3 * time.Second // of the leases
	flushed = 10 * time.Millisecond

	patience = 30 * time.Second // for anything that is waited for
)

// Options say what the tour runs on.
type Options struct {
	Executable string // the demo's binary
	Store      string // URL; empty: a temporary directory
}

// tour is one run.
type tour struct {
	*teller
	*watch

	store   store.Store
	members []*member
	load    *load.Load
	before  load.Tally // as the step began
	rows    []row
}

// Run gives the tour on out. Whatever happens, it leaves no process and no file of its own
// behind. Its error says what went wrong with what the tour shows.
func Run(ctx context.Context, o Options, out io.Writer) error {
	url, remove, err := place(o.Store)
	if err != nil {
		return err
	}
	defer remove()
	t, err := newTour(o.Executable, url, out)
	if err != nil {
		return err
	}
	defer t.close()
	t.introduce(url)
	if err := t.takeAll(ctx); err != nil {
		return err
	}
	if err := t.dismiss(ctx); err != nil {
		return err
	}
	return report(out, t.rows)
}

// place is the store's URL and what removes it afterwards.
func place(url string) (string, func(), error) {
	if url != "" {
		return url, func() {}, nil
	}
	dir, err := os.MkdirTemp("", "slap-tour-")
	if err != nil {
		return "", nil, fmt.Errorf("there is no place for a temporary directory: %w", err)
	}
	return "file://" + dir, func() { _ = os.RemoveAll(dir) }, nil
}

func newTour(executable, url string, out io.Writer) (*tour, error) {
	s, err := store.Parse(url)
	if err != nil {
		return nil, err
	}
	members, err := newMembers(executable, url)
	if err != nil {
		return nil, err
	}
	t := &tour{teller: &teller{out: out}, store: s, members: members}
	var addresses []string
	for _, m := range members {
		addresses = append(addresses, m.http)
	}
	t.load = load.New(load.Options{Addresses: addresses, Clients: clients})
	t.watch = &watch{teller: t.teller, members: members, load: t.load}
	return t, nil
}

func (t *tour) introduce(url string) {
	fmt.Fprintf(t.out, "Nodes a, b and c share %d shards in %s\n"+
		"Leases last %d s unrenewed. Writes are acknowledged once durable, flushed every %d ms (default 100).\n"+
		"Each line of shards shows what each node says of shards 0 to %d:\n%s\n",
		shards, url, ttl/time.Second, flushed/time.Millisecond, shards-1, legend)
}

func (t *tour) close() {
	for _, m := range t.members {
		m.close()
	}
	t.load.Close()
}

// underLoad runs the load beside do.
func (t *tour) underLoad(ctx context.Context, do func() error) error {
	running, stop := context.WithCancel(ctx)
	var both sync.WaitGroup
	both.Go(func() { t.load.Run(running) })
	both.Go(func() { t.progress(running, t.before) })
	err := do()
	stop()
	both.Wait()
	return err
}

// counted is what the load counted in this step.
func (t *tour) counted() load.Tally { return t.load.Tally().Since(t.before) }

// dismiss lets the nodes that are left leave.
func (t *tour) dismiss(ctx context.Context) error {
	bounded, cancel := bound(ctx)
	defer cancel()
	for _, m := range t.members {
		if m.node == nil {
			continue
		}
		if err := m.leave(bounded); err != nil {
			return err
		}
	}
	return nil
}
