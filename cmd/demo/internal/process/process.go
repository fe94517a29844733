// Package process runs `demo node` as a process of its own: started, killed,
// stopped and waited for.
package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// Node is a running node. Its methods are safe for concurrent use.
type Node struct {
	HTTP string // host:port of its HTTP service

	cmd    *exec.Cmd
	output *output
	ended  chan struct{} // closed once the process is gone
}

// Options say how a node is started.
type Options struct {
	Executable string   // the demo's binary
	Arguments  []string // the flags of `demo node`, without --listen and --http
	Env        []string // the process's whole environment; nil: that of this process
}

// Start starts a node on two free ports of the loopback interface. It returns at
// once; [Node.Ready] waits until the node serves.
func Start(o Options) (*Node, error) {
	remote, err := FreeAddress()
	if err != nil {
		return nil, err
	}
	http, err := FreeAddress()
	if err != nil {
		return nil, err
	}
	return StartAt(o, remote, http)
}

// StartAt starts a node on the given addresses, such as those of a node before it.
func StartAt(o Options, remote, http string) (*Node, error) {
	arguments := append([]string{"node", "--listen", remote, "--http", http}, o.Arguments...)
	n := &Node{
		HTTP:   http,
		cmd:    exec.Command(o.Executable, arguments...), //nolint:noctx // its owner ends it, in one of several ways
		output: &output{ready: make(chan struct{})},
		ended:  make(chan struct{}),
	}
	n.cmd.Env = o.Env
	n.cmd.Stdout, n.cmd.Stderr = n.output, n.output
	n.cmd.SysProcAttr = diesWithParent()
	if err := n.cmd.Start(); err != nil {
		return nil, fmt.Errorf("the node does not start: %w", err)
	}
	go func() {
		defer close(n.ended)
		_ = n.cmd.Wait() // its result is in ProcessState
	}()
	return n, nil
}

// Ready waits for the node's ready line.
func (n *Node) Ready(ctx context.Context) error {
	select {
	case <-n.output.ready:
		return nil
	case <-n.ended:
		return n.Err()
	case <-ctx.Done():
		return fmt.Errorf("the node is not ready: %w: %s", context.Cause(ctx), n.lastLine())
	}
}

// Kill ends the node without warning, as kill -9 does, and waits for its end. A
// node that has ended is left as it is.
func (n *Node) Kill() {
	_ = n.cmd.Process.Kill()
	<-n.ended
}

// Stop asks the node to leave, waits for its end and returns its exit status. A
// node that is not gone when ctx ends is killed.
func (n *Node) Stop(ctx context.Context) (status int, err error) {
	if err := n.Signal(syscall.SIGTERM); err != nil {
		return 0, err
	}
	select {
	case <-n.ended:
		return n.cmd.ProcessState.ExitCode(), nil
	case <-ctx.Done():
		n.Kill()
		return 0, fmt.Errorf("the node did not leave: %w", context.Cause(ctx))
	}
}

// Signal sends a signal. A node that has ended is left as it is.
func (n *Node) Signal(s os.Signal) error {
	if err := n.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("the node cannot be signalled: %w", err)
	}
	return nil
}

// Ended says whether the node is gone.
func (n *Node) Ended() bool {
	select {
	case <-n.ended:
		return true
	default:
		return false
	}
}

// Err is how the node ended, with its last words; nil while it runs.
func (n *Node) Err() error {
	if !n.Ended() {
		return nil
	}
	return fmt.Errorf("the node ended with status %d: %s", n.cmd.ProcessState.ExitCode(), n.lastLine())
}

// Output is what the node wrote so far.
func (n *Node) Output() string { return strings.TrimSpace(n.output.String()) }

func (n *Node) lastLine() string {
	text := n.Output()
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// output is what a process writes, and whether its ready line is in it.
type output struct {
	Transcript

	ready chan struct{}
	found bool
}

// Write takes the next piece of output. The command calls it from one goroutine.
func (o *output) Write(p []byte) (int, error) {
	n, err := o.Transcript.Write(p)
	if !o.found && hasReadyLine(o.String()) {
		o.found = true
		close(o.ready)
	}
	return n, err
}

func hasReadyLine(text string) bool {
	_, after, found := strings.Cut("\n"+text, "\nready ")
	return found && strings.Contains(after, "\n")
}
