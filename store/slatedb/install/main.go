// Command install puts the engine's shared library into the user's cache folder,
// where programs that use the package slatedb find it:
//
//	go run github.com/slap-go/slap/store/slatedb/install
//
// It fetches the pinned version with pip or uv, as they are configured, and
// verifies it. With -wheel it takes a wheel that is already at hand and needs no
// network:
//
//	python3 -m pip download slatedb==0.17.0 --no-deps --only-binary=:all: --platform manylinux2014_x86_64
//	go run github.com/slap-go/slap/store/slatedb/install -wheel slatedb-0.17.0-….whl
//
// With -dir it fills another folder, such as the one of an executable that is
// shipped with the library beside it, and with -os, -arch and -libc for another
// platform than this machine's.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/slap-go/slap/store/slatedb/internal/library"
)

// patience is how long the command is silent at most.
const patience = 2 * time.Second

func main() {
	warn(os.Stderr)
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "slatedb:", err)
		os.Exit(1)
	}
}

// warn tells a user whose environment names a library that programs do not look
// for the one that is installed.
func warn(out io.Writer) {
	if path := os.Getenv(library.Variable); path != "" {
		fmt.Fprintf(out, "slatedb: %s is set to %s: programs load that file and not the installed one, until it is unset\n",
			library.Variable, path)
	}
}

func run(args []string, out io.Writer) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	o, err := options(args)
	if err != nil {
		return err
	}
	return install(ctx, o, out)
}

func options(args []string) (library.Options, error) {
	var o library.Options
	var goos, arch, libc string
	flags := flag.NewFlagSet("install", flag.ExitOnError)
	flags.StringVar(&o.Wheel, "wheel", "", "a wheel already at hand, instead of fetching it with pip or uv")
	flags.StringVar(&o.Dir, "dir", "", "the folder to install into (default: the user's cache folder)")
	flags.BoolVar(&o.Force, "force", false, "install even what is there already")
	flags.StringVar(&goos, "os", "", "the operating system, as GOOS (default: this one)")
	flags.StringVar(&arch, "arch", "", "the processor, as GOARCH (default: this one)")
	flags.StringVar(&libc, "libc", "", "the C library on Linux, glibc or musl (default: this one)")
	if err := flags.Parse(args); err != nil {
		return o, fmt.Errorf("arguments: %w", err)
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q: only flags are known, see -help", flags.Arg(0))
	}
	o.Platform = library.For(goos, arch, libc)
	return o, nil
}

// install installs, and tells what it does at least every two seconds.
func install(ctx context.Context, o library.Options, out io.Writer) error {
	lines, done := make(chan string), make(chan error)
	o.Say = func(line string) { lines <- line }
	go func() {
		_, err := library.Install(ctx, o)
		done <- err
	}()
	start, tick := time.Now(), time.NewTicker(patience)
	defer tick.Stop()
	for {
		select {
		case line := <-lines:
			fmt.Fprintln(out, "slatedb:", line)
		case <-tick.C:
			fmt.Fprintf(out, "slatedb: … %.0f s\n", time.Since(start).Seconds())
		case err := <-done:
			return err
		}
	}
}
