package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
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
	watch := set.Bool("watch", false, "print it again each second")
	if err := flags.Parse(set, arguments, stdout); err != nil {
		return err
	}
	if err := flags.Reachable("--http", *address); err != nil {
		return err
	}
	node := client.New(*address, 1)
	defer node.Close()
	show := printMap
	if *asJSON {
		show = printJSON
	}
	if err := showOnce(ctx, node, stdout, show); err != nil || !*watch {
		return err
	}
	return keepShowing(ctx, node, stdout, show)
}

// keepShowing goes on over failures until ctx ends.
func keepShowing(ctx context.Context, node *client.Client, stdout io.Writer, show func(io.Writer, shardmap.Map) error) error {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		if err := showOnce(ctx, node, stdout, show); err != nil && ctx.Err() == nil {
			fmt.Fprintln(stdout, err)
		}
	}
}

func showOnce(ctx context.Context, node *client.Client, stdout io.Writer, show func(io.Writer, shardmap.Map) error) error {
	bounded, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	m, err := node.Shards(bounded)
	if err != nil {
		return fmt.Errorf("--http: the node does not show its shards: %w", err)
	}
	return show(stdout, m)
}

func printJSON(w io.Writer, m shardmap.Map) error { return json.NewEncoder(w).Encode(m) }

func printMap(w io.Writer, m shardmap.Map) error {
	fmt.Fprintf(w, "cluster %s as node %s sees it\n", m.Cluster, m.Node)
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
