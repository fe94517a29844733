package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/slap-go/slap/cmd/demo/internal/client"
	"github.com/slap-go/slap/cmd/demo/internal/flags"
	"github.com/slap-go/slap/cmd/demo/internal/shardmap"
)

// answerTimeout bounds how long a node may take to show its shards.
const answerTimeout = 5 * time.Second

func runShards(ctx context.Context, arguments []string, stdout, _ io.Writer) error {
	set := flag.NewFlagSet("shards", flag.ContinueOnError)
	address := set.String("http", "", "`host:port` of a node's HTTP service (required)")
	asJSON := set.Bool("json", false, "print what the node answers")
	watch := set.Bool("watch", false, "go on: draw it each second; into a pipe or file print it when it has changed")
	if err := flags.Parse(set, arguments, stdout); err != nil {
		return err
	}
	if err := flags.Reachable("--http", *address); err != nil {
		return err
	}
	node := client.New(*address, 1)
	defer node.Close()
	w := &watcher{node: node, address: *address, out: stdout, every: time.Second, show: printMap}
	switch {
	case *asJSON:
		w.show = printJSON
	case *watch && isTerminal(stdout):
		w.show = draw
	}
	if err := w.once(ctx); err != nil || !*watch {
		return err
	}
	return w.keepOn(ctx)
}

// isTerminal says whether people read along.
func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// watcher shows the shard map of one node.
type watcher struct {
	node    *client.Client
	address string
	out     io.Writer
	every   time.Duration
	show    func(io.Writer, shardmap.Map) error
	shown   string
}

// keepOn goes on over failures until ctx ends.
func (w *watcher) keepOn(ctx context.Context) error {
	ticker := time.NewTicker(w.every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		if err := w.once(ctx); err != nil && ctx.Err() == nil {
			w.print(err.Error() + "\n")
		}
	}
}

func (w *watcher) once(ctx context.Context) error {
	bounded, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	m, err := w.node.Shards(bounded)
	if err != nil {
		if client.Unreachable(err) {
			return fmt.Errorf("no node answers at %s: start one, or correct --http", w.address)
		}
		return fmt.Errorf("--http: the node does not show its shards: %w", err)
	}
	var text strings.Builder
	if err := w.show(&text, m); err != nil {
		return err
	}
	w.print(text.String())
	return nil
}

// print writes what has changed.
func (w *watcher) print(text string) {
	if text != w.shown {
		fmt.Fprint(w.out, text)
	}
	w.shown = text
}

func printJSON(w io.Writer, m shardmap.Map) error { return json.NewEncoder(w).Encode(m) }

// clearScreen is what empties a terminal.
const clearScreen = "\x1b[H\x1b[2J"

// draw shows the picture in place of the one before.
func draw(w io.Writer, m shardmap.Map) error {
	fmt.Fprint(w, clearScreen+heading(m))
	return m.Draw(w)
}

func heading(m shardmap.Map) string {
	return fmt.Sprintf("cluster %s as node %s sees it\n", m.Cluster, m.Node)
}

func printMap(w io.Writer, m shardmap.Map) error {
	fmt.Fprint(w, heading(m))
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "SHARD\tOWNER\tSTATE\tGENERATION")
	for _, s := range m.Shards {
		owner := s.Owner
		if owner == "" {
			owner = "-"
		}
		fmt.Fprintf(table, "%d\t%s\t%s\t%d\n", s.Shard, owner, s.State, s.Generation)
	}
	return table.Flush()
}
