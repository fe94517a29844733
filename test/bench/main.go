// Command bench measures the parts of this module beside their peers: the binding
// of the engine beside the engine's own Python binding, or with -native beside its
// own Rust crate, and supervised actors beside bare ones. Both sides of a
// benchmark run in turn in several short rounds, and the ratio is the median of
// the rounds' ratios.
//
//	go run ./test/bench
//	go run ./test/bench -run put -rounds 9 -duration 2s
//	go run ./test/bench -native -page docs/benchmarks.md
//
// A line that starts with "bench:" is a target with the ratio as measured. The
// command fails if something did not run, not if a target is missed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"syscall"
	"time"

	"github.com/slap-go/slap/internal/clock"
)

// options are the command's.
type options struct {
	plan

	native bool
	only   *regexp.Regexp
	page   string // the Markdown file to renew, if any

	idle, flush string // of the process that measures idle databases
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	o, err := parse(os.Args[1:])
	switch {
	case err != nil:
	case o.idle != "":
		err = reportIdle(ctx, o.idle, o.flush, os.Stdout)
	default:
		err = bench(ctx, o, func(line string) { _, _ = fmt.Fprintln(os.Stdout, line) })
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func parse(args []string) (o options, err error) {
	flags := flag.NewFlagSet("bench", flag.ExitOnError)
	only := flags.String("run", "", "run only what matches this regular `expression`")
	flags.IntVar(&o.rounds, "rounds", 5, "how often each side runs")
	flags.DurationVar(&o.duration, "duration", time.Second, "how long a side runs in a round")
	flags.BoolVar(&o.native, "native", false, "compare with the engine's Rust crate, which is built with cargo")
	flags.StringVar(&o.page, "page", "", "write the results into this Markdown `file` too")
	flags.StringVar(&o.idle, "idle", "", "only measure idle databases on this kind of `store` (memory or file)")
	flags.StringVar(&o.flush, "flush", "100ms", "the flush `interval` of idle databases (null: none)")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	began := clock.Now()
	o.say = func(format string, args ...any) {
		fmt.Fprintf(os.Stderr, "%4.0f s  %s\n", clock.Since(began).Seconds(), fmt.Sprintf(format, args...))
	}
	switch o.only, err = regexp.Compile(*only); {
	case err != nil:
		return o, fmt.Errorf("-run: %w", err)
	case flags.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q: only flags are known, see -help", flags.Arg(0))
	case o.rounds < 1:
		return o, fmt.Errorf("-rounds is %d: it must be at least 1", o.rounds)
	case o.duration <= 0:
		return o, fmt.Errorf("-duration is %s: it must be positive", o.duration)
	}
	return o, nil
}

// bench runs a suite and reports its results. What does not run keeps nothing else
// from running.
func bench(ctx context.Context, o options, tell func(line string)) error {
	s := ordinarySuite()
	if o.native {
		s = nativeSuite()
	}
	host := machine(ctx)
	tell("info: machine: " + host)
	results, failed := s.measure(ctx, o, tell)
	var info []string
	if s.info != nil && o.only.MatchString(idleName) && ctx.Err() == nil {
		lines, err := s.info(ctx, o.say)
		info, failed = lines, errors.Join(failed, err)
	}
	for _, line := range info {
		tell(line)
	}
	tell(summary(results))
	failed = errors.Join(failed, s.close())
	if o.page != "" && failed == nil {
		failed = renew(o.page, s.name, table(host, results, info))
	}
	return failed
}
