// Command demo shows what an application on slap looks like: a durable counter
// and key-value service. `demo` alone is a guided tour; `demo help` lists the rest.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// Exit statuses.
const (
	statusOK     = 0
	statusFailed = 1 // what was asked for began and went wrong
	statusUnfit  = 2 // it could not begin
)

func main() {
	ctx, stop := untilSignal()
	status := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// command is one subcommand.
type command struct {
	name, summary string
	run           func(ctx context.Context, arguments []string, stdout, stderr io.Writer) error
}

func commands() []command {
	return []command{
		{"tour", "the guided tour; what `demo` alone runs", runTour},
		{"node", "run one node until SIGTERM or SIGINT", runNode},
		{"shards", "show the shard map of a node", runShards},
		{"load", "write from many clients and check what was acknowledged", runLoad},
		{"diagnose", "check whether a store is fit, step by step", runDiagnose},
	}
}

// run carries out the command line and returns the exit status.
func run(ctx context.Context, arguments []string, stdout, stderr io.Writer) int {
	name := "tour"
	if len(arguments) > 0 && (!strings.HasPrefix(arguments[0], "-") || isHelp(arguments[0])) {
		name, arguments = arguments[0], arguments[1:]
	}
	if isHelp(name) {
		help(stdout)
		return statusOK
	}
	for _, c := range commands() {
		if c.name == name {
			return report(stderr, c.run(ctx, arguments, stdout, stderr))
		}
	}
	return report(stderr, fmt.Errorf("unknown command %q: `demo help` lists the commands", name))
}

func isHelp(name string) bool {
	return name == "help" || name == "-h" || name == "-help" || name == "--help"
}

func help(w io.Writer) {
	fmt.Fprintln(w, "usage: demo [command] [flags]; `demo COMMAND --help` lists its flags")
	for _, c := range commands() {
		fmt.Fprintf(w, "  %-9s %s\n", c.name, c.summary)
	}
}

// report writes one sentence about an error and says how the process ends.
func report(stderr io.Writer, err error) int {
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return statusOK
	}
	fmt.Fprintln(stderr, "demo: "+strings.TrimPrefix(strings.Join(strings.Fields(err.Error()), " "), "slap: "))
	if errors.As(err, &failure{}) {
		return statusFailed
	}
	return statusUnfit
}

// failure is the error of what had begun.
type failure struct{ error }

// Unwrap gives the error itself.
func (f failure) Unwrap() error { return f.error }

// untilSignal ends the context with the first SIGTERM or SIGINT; a second one
// ends the process at once.
func untilSignal() (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		cancel(errors.New(signalName(<-signals)))
		<-signals
		fmt.Fprintln(os.Stderr, "demo: ended at once by a second signal")
		os.Exit(statusFailed)
	}()
	return ctx, func() { signal.Stop(signals) }
}

// signalName is the name of one of the two signals that end the demo.
func signalName(s os.Signal) string {
	if s == syscall.SIGTERM {
		return "SIGTERM"
	}
	return "SIGINT"
}
