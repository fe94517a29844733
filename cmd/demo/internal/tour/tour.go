// Package tour shows what the demo promises on a node process of its own: load, a
// kill without warning, a clean stop, a fence by an intruder; and after each that no
// acknowledged write is gone.
package tour

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/slap-go/slap/cmd/demo/internal/client"
	"github.com/slap-go/slap/cmd/demo/internal/load"
	"github.com/slap-go/slap/cmd/demo/internal/process"
	"github.com/slap-go/slap/cmd/demo/internal/shardmap"
	"github.com/slap-go/slap/store"
)

// What the tour is made of.
const (
	shards  = 8
	clients = 64
	flushed = "10 ms"

	calm     = 3 * time.Second  // the load without a fault
	patience = 30 * time.Second // for anything that is waited for
)

// Options say what the tour runs on.
type Options struct {
	Executable string // the demo's binary
	Store      string // URL; empty: a temporary directory
}

// tour is one run.
type tour struct {
	out     io.Writer
	store   store.Store
	options process.Options
	address [2]string // of the node: for other nodes, and HTTP
	node    *process.Node
	client  *client.Client
	load    *load.Load
	before  load.Tally // as the step began
	rows    []row
}

// Run gives the tour on out. Whatever happens, it leaves no process and no file
// behind. Its error says what went wrong with what the tour shows.
func Run(ctx context.Context, o Options, out io.Writer) error {
	url, remove, err := place(o.Store)
	if err != nil {
		return err
	}
	defer remove()
	t, err := newTour(o, url, out)
	if err != nil {
		return err
	}
	defer t.close()
	fmt.Fprintf(out, "One node with %d shards on %s, flushed every %s; a node's default is 100 ms. "+
		"Every write is acknowledged once it is durable.\n%s\n", shards, url, flushed, shardmap.Legend)
	for _, s := range t.steps() {
		if err := t.take(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return t.table()
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

func newTour(o Options, url string, out io.Writer) (*tour, error) {
	s, err := store.Parse(url)
	if err != nil {
		return nil, err
	}
	t := &tour{out: &lines{w: out}, store: s}
	for i := range t.address {
		address, err := process.FreeAddress()
		if err != nil {
			return nil, err
		}
		t.address[i] = address
	}
	t.options = process.Options{Executable: o.Executable, Arguments: []string{
		"--name", "a", "--store", url, "--shards", fmt.Sprint(shards), "--flush-interval", strings.ReplaceAll(flushed, " ", ""),
	}}
	t.client = client.New(t.address[1], 1)
	t.load = load.New(load.Options{Addresses: []string{t.address[1]}, Clients: clients})
	return t, nil
}

func (t *tour) close() {
	if t.node != nil {
		t.node.Kill()
	}
	t.client.Close()
	t.load.Close()
}

// start starts the node and shows its shard map as it forms, until it is ready.
func (t *tour) start(ctx context.Context) error {
	began := time.Now()
	node, err := process.StartAt(t.options, t.address[0], t.address[1])
	if err != nil {
		return err
	}
	t.node = node
	if err := t.watched(ctx, node.Ready); err != nil {
		return err
	}
	t.sayf("ready after %s", seconds(time.Since(began)))
	return nil
}

// watched shows the shard map whenever it changes while something is waited for.
func (t *tour) watched(ctx context.Context, await func(context.Context) error) error {
	watching, end := context.WithCancel(ctx)
	began := time.Now()
	var watch sync.WaitGroup
	watch.Go(func() { t.watch(watching, began) })
	err := await(ctx)
	end()
	watch.Wait()
	return err
}

// watch writes the shard map whenever it has changed.
func (t *tour) watch(ctx context.Context, began time.Time) {
	shown := ""
	for ctx.Err() == nil {
		if m, err := t.client.Shards(ctx); err == nil {
			if line := picture(m); line != shown {
				t.sayf("%s after %s", line, seconds(time.Since(began)))
				shown = line
			}
		}
		load.Pause(ctx, 10*time.Millisecond)
	}
}

// underLoad runs the load beside do.
func (t *tour) underLoad(ctx context.Context, do func() error) error {
	running, stop := context.WithCancel(ctx)
	var both sync.WaitGroup
	both.Go(func() { t.load.Run(running) })
	both.Go(func() { t.load.Progress(running, t.out, t.before) })
	err := do()
	stop()
	both.Wait()
	return err
}

// counted is what the load counted in this step.
func (t *tour) counted() load.Tally { return t.load.Tally().Since(t.before) }

func (t *tour) sayf(format string, args ...any) {
	fmt.Fprintln(t.out, "  "+strings.TrimRight(fmt.Sprintf(format, args...), " "))
}

// randomly is a random time around d.
func randomly(d time.Duration) time.Duration { return d/2 + rand.N(d) }

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }
