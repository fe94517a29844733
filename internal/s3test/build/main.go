// Command build builds the S3 server that the tests start, unless this machine
// has it, and prints where it is.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/slap-go/slap/internal/clock"
	"github.com/slap-go/slap/internal/s3test"
)

// progressInterval is the time between two lines that say how long it has taken.
const progressInterval = 10 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	reported, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(reported)
		report(done)
	}()
	binary, err := s3test.Build(ctx)
	stop()
	close(done)
	<-reported
	if err != nil {
		fmt.Fprintln(os.Stderr, "s3test:", err)
		os.Exit(1)
	}
	fmt.Fprintln(os.Stdout, "S3 test server:", binary)
}

// report says that it takes a while, once it does.
func report(done <-chan struct{}) {
	start := clock.Now()
	for wait := 2 * time.Second; ; wait = progressInterval {
		timer := clock.NewTimer(wait)
		select {
		case <-done:
			timer.Stop()
			return
		case <-timer.C:
			fmt.Fprintf(os.Stderr, "S3 test server: compiling it (about two minutes, once), %.0f s so far\n", clock.Since(start).Seconds())
		}
	}
}
