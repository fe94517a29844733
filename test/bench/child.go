package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// A child is a peer that runs in a process of its own. It reads workloads from its
// standard input, one in a line, answers each with a line, and does nothing in
// between.
type child struct {
	start func(context.Context) (*exec.Cmd, error)

	once    sync.Once
	failed  error
	cmd     *exec.Cmd
	input   io.WriteCloser
	answers *bufio.Reader
}

// answer is what a child says to a workload.
type answer struct {
	Operations float64 `json:"operations"`
	Seconds    float64 `json:"seconds"`
	Error      string  `json:"error"`
}

// measure is the workload in the child, which is started by the first one.
func (c *child) measure(w workload) measure {
	return func(ctx context.Context, d time.Duration) (float64, error) {
		c.once.Do(func() { c.failed = c.launch(ctx) })
		if c.failed != nil {
			return 0, c.failed
		}
		a, err := c.ask(w.lasting(d))
		switch {
		case err != nil:
			return 0, err
		case a.Error != "":
			return 0, errors.New(a.Error)
		}
		return a.Operations / a.Seconds, nil
	}
}

func (c *child) launch(ctx context.Context) (err error) {
	if c.cmd, err = c.start(ctx); err != nil {
		return err
	}
	c.cmd.Stderr = os.Stderr
	if c.input, err = c.cmd.StdinPipe(); err != nil {
		return err
	}
	output, err := c.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	c.answers = bufio.NewReader(output)
	if err := c.cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", c.cmd.Path, err)
	}
	return nil
}

func (c *child) ask(w workload) (a answer, err error) {
	if err := json.NewEncoder(c.input).Encode(w); err != nil {
		return a, fmt.Errorf("%s has ended: %w", c.cmd.Path, err)
	}
	line, err := c.answers.ReadBytes('\n')
	if err != nil {
		return a, fmt.Errorf("%s has ended: %w", c.cmd.Path, err)
	}
	if err := json.Unmarshal(line, &a); err != nil {
		return a, fmt.Errorf("%s answered %q: %w", c.cmd.Path, line, err)
	}
	return a, nil
}

// close ends the process, if it has been started, and waits for it.
func (c *child) close() error {
	if c.cmd == nil || c.cmd.Process == nil {
		return nil
	}
	return errors.Join(c.input.Close(), c.cmd.Wait())
}
