package s3test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// process is one run of the server; a goroutine waits for its end.
type process struct {
	cmd   *exec.Cmd
	log   string        // file with its output
	ended chan struct{} // closed once the process is gone
}

func launch(cmd *exec.Cmd) (*process, error) {
	if err := os.MkdirAll(filepath.Join(cmd.Dir, "buckets"), 0o755); err != nil {
		return nil, err
	}
	output, err := os.Create(filepath.Join(cmd.Dir, "server.log"))
	if err != nil {
		return nil, err
	}
	defer output.Close()
	cmd.Stdout, cmd.Stderr = output, output
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("the S3 test server does not start: %w", err)
	}
	p := &process{cmd: cmd, log: output.Name(), ended: make(chan struct{})}
	go func() {
		defer close(p.ended)
		_ = cmd.Wait()
	}()
	return p, nil
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

func (p *process) awaitReady(url string) error {
	deadline := time.After(startTimeout)
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	for {
		select {
		case <-p.ended:
			return fmt.Errorf("the S3 test server ended at once: %s", p.output())
		case <-deadline:
			return fmt.Errorf("the S3 test server did not answer within %s: %s", startTimeout, p.output())
		case <-poll.C:
			if answers(url) {
				return nil
			}
		}
	}
}

func (p *process) output() []byte {
	data, _ := os.ReadFile(p.log)
	return lastLine(data)
}
