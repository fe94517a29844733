package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/slap-go/slap/cmd/demo/internal/flags"
	"github.com/slap-go/slap/cmd/demo/internal/tour"
	"github.com/slap-go/slap/store"
)

func runTour(ctx context.Context, arguments []string, stdout, _ io.Writer) error {
	set := flag.NewFlagSet("tour", flag.ContinueOnError)
	url := set.String("store", "", "`URL` of the store (default: a temporary directory)")
	if err := flags.Parse(set, arguments, stdout); err != nil {
		return err
	}
	if err := checkTourStore(*url); err != nil {
		return err
	}
	executable, err := os.Executable()
	if err != nil {
		return err
	}
	if err := tour.Run(ctx, tour.Options{Executable: executable, Store: *url}, stdout); err != nil {
		return failure{err}
	}
	return nil
}

func checkTourStore(url string) error {
	if url == "" {
		return nil
	}
	if strings.HasPrefix(url, "memory:") {
		return fmt.Errorf("--store %s ends with the process that the tour kills: use file:///dir or s3://bucket/prefix", url)
	}
	if _, err := store.Parse(url); err != nil {
		return fmt.Errorf("--store: %w", err)
	}
	return nil
}
