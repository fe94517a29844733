// Command build builds the S3 server that the tests start, unless this machine
// has it, and prints where it is.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/slap-go/slap/internal/s3test"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	binary, err := s3test.Build(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "s3test:", err)
		os.Exit(1)
	}
	fmt.Fprintln(os.Stdout, "S3 test server:", binary)
}
