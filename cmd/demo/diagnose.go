package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"github.com/slap-go/slap/cmd/demo/internal/flags"
	"github.com/slap-go/slap/store"
)

func runDiagnose(ctx context.Context, arguments []string, stdout, _ io.Writer) error {
	set := flag.NewFlagSet("diagnose", flag.ContinueOnError)
	url := set.String("store", "", "`URL` of the store (required)")
	if err := flags.Parse(set, arguments, stdout); err != nil {
		return err
	}
	if *url == "" {
		return errors.New("--store is empty: give it a URL such as file:///var/lib/demo")
	}
	s, err := store.Parse(*url)
	if err != nil {
		return fmt.Errorf("--store: %w", err)
	}
	return diagnose(ctx, s, stdout)
}

// diagnose shows each step of the probe that a node makes when it starts, and
// fails if a node would not start.
func diagnose(ctx context.Context, s store.Store, stdout io.Writer) error {
	bounded, cancel := context.WithTimeout(ctx, store.ProbeTimeout)
	defer cancel()
	missing := missingDirectory(bounded, s)
	bucket, err := s.Open(bounded)
	if err != nil {
		return err
	}
	defer func() { _ = bucket.Close() }()
	if missing != "" {
		fmt.Fprintf(stdout, "created the directory %s: it was not there\n", missing)
	}
	report := store.Probe(bounded, bucket, store.ProbeConfig{Node: "diagnose"})
	if err := printReport(stdout, s, report); err != nil {
		return err
	}
	if err := report.Err(); err != nil {
		fmt.Fprintln(stdout, "unfit")
		return err
	}
	fmt.Fprintln(stdout, "fit: the store honours conditional writes")
	return nil
}

// missingDirectory is the store's directory if opening the store has to create it.
func missingDirectory(ctx context.Context, s store.Store) string {
	at, err := s.Location(ctx)
	if err != nil || at.Kind != store.KindDir {
		return ""
	}
	if _, err := os.Stat(at.Dir); errors.Is(err, os.ErrNotExist) {
		return at.Dir
	}
	return ""
}

func printReport(w io.Writer, s store.Store, report store.Report) error {
	fmt.Fprintf(w, "%s\n", s)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "STEP\tRESULT\tTOOK\tWHY")
	for _, step := range report.Steps {
		why := ""
		if step.Err != nil {
			why = step.Err.Error()
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", step.Name, step.Result, step.Took.Round(10*time.Microsecond), why)
	}
	return table.Flush()
}
