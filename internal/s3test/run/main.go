// Command run starts the S3 server that the tests use, over a temporary directory, and runs
// a command beside it: with credentials in its environment, and {store} in its arguments
// replaced by the URL of a store there. It ends with the command, with its exit status.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"

	"github.com/slap-go/slap/internal/s3test"
)

func main() {
	status, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "s3test:", err)
	}
	os.Exit(status)
}

func run(arguments []string) (status int, err error) {
	if len(arguments) == 0 {
		return 2, errors.New("there is no command: write `run COMMAND [ARGUMENT …]`, with {store} for the store's URL")
	}
	dir, err := os.MkdirTemp("", "slap-s3-")
	if err != nil {
		return 2, fmt.Errorf("there is no place for a temporary directory: %w", err)
	}
	defer os.RemoveAll(dir)
	server, err := s3test.Launch(dir, "slap")
	if err != nil {
		return 2, err
	}
	defer server.Kill()
	return beside(server, arguments)
}

// beside runs the command. Ctrl-C reaches it from the terminal; SIGTERM is passed on. This
// process waits for its end, whatever comes.
func beside(server *s3test.Server, arguments []string) (status int, err error) {
	for i, a := range arguments {
		arguments[i] = strings.ReplaceAll(a, "{store}", server.URL("slap", "run"))
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	defer signal.Stop(signals)
	cmd := exec.Command(arguments[0], arguments[1:]...)
	cmd.Env = append(os.Environ(), server.Env()...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return 2, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case s := <-signals:
			if s == syscall.SIGTERM {
				_ = cmd.Process.Signal(s) // it may have ended
			}
		case err := <-ended:
			if cmd.ProcessState == nil {
				return 2, err
			}
			return cmd.ProcessState.ExitCode(), nil
		}
	}
}
