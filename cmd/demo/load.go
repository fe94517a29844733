package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/slap-go/slap/cmd/demo/internal/flags"
	"github.com/slap-go/slap/cmd/demo/internal/load"
)

// verifyTimeout bounds the reading back after a load.
const verifyTimeout = 30 * time.Second

// loadOptions are the flags of `demo load`.
type loadOptions struct {
	addresses []string
	clients   int
	duration  time.Duration
}

func runLoad(ctx context.Context, arguments []string, stdout, _ io.Writer) error {
	o, err := parseLoad(arguments, stdout)
	if err != nil {
		return err
	}
	l := load.New(load.Options{Addresses: o.addresses, Clients: o.clients})
	defer l.Close()
	bounded, cancel := context.WithTimeout(ctx, o.duration)
	defer cancel()
	began := time.Now()
	var progress sync.WaitGroup
	progress.Go(func() { l.Progress(bounded, stdout, load.Tally{}) })
	l.Run(bounded)
	progress.Wait()
	tally := l.Tally()
	fmt.Fprintf(stdout, "total  %s, %.0f/s\n", tally, float64(tally.Acknowledged)/time.Since(began).Seconds())
	// A signal ends the load, not the judgement.
	if err := judge(context.WithoutCancel(ctx), l, stdout); err != nil {
		return failure{err}
	}
	return nil
}

// judge reads everything back and fails if something is wrong with it.
func judge(ctx context.Context, l *load.Load, stdout io.Writer) error {
	if l.Tally().Acknowledged == 0 {
		return nothingAcknowledged(l)
	}
	bounded, cancel := context.WithTimeout(ctx, verifyTimeout)
	defer cancel()
	verdict, err := l.Verify(bounded)
	if err != nil {
		return err
	}
	if !verdict.OK() {
		return fmt.Errorf("%s", verdict)
	}
	fmt.Fprintln(stdout, verdict)
	return nil
}

func nothingAcknowledged(l *load.Load) error {
	if absent := l.Absent(); len(absent) > 0 {
		return fmt.Errorf("no write was acknowledged: no node answers at %s: start one, or correct --http", strings.Join(absent, ", "))
	}
	return errors.New("no write was acknowledged: no node at --http is ready; `demo shards` shows what is open")
}

func parseLoad(arguments []string, stdout io.Writer) (loadOptions, error) {
	var o loadOptions
	set := flag.NewFlagSet("load", flag.ContinueOnError)
	addresses := set.String("http", "", "`host:port,…` of the nodes' HTTP services (required)")
	set.IntVar(&o.clients, "clients", 64, "`number` of requests in flight")
	flags.Duration(set, &o.duration, "duration", 10*time.Second, "`duration` of the writing")
	if err := flags.Parse(set, arguments, stdout); err != nil {
		return o, err
	}
	for address := range strings.SplitSeq(*addresses, ",") {
		if err := flags.Reachable("--http", address); err != nil {
			return o, err
		}
		o.addresses = append(o.addresses, address)
	}
	switch {
	case o.clients < 1:
		return o, fmt.Errorf("--clients is %d: it has to be above zero", o.clients)
	case o.duration <= 0:
		return o, fmt.Errorf("--duration is %s: it has to be above zero", o.duration)
	}
	return o, nil
}
