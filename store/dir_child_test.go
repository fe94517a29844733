//go:build unix

package store

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// The tests start this binary again as other processes on the same directory.
// These environment variables say what such a child does, and where.
const (
	childRole = "SLAP_STORE_CHILD"
	childDir  = "SLAP_STORE_DIR"
	childSeed = "SLAP_STORE_SEED"
)

// child is the view of a child process on itself.
type child struct {
	*dirBucket
	random *mathrand.Rand
	id     string
	linked func() // called before each link
}

// reportf tells the parent of an event, as a line on the standard output, without
// a buffer, so that what was reported survives a kill.
func reportf(format string, args ...any) { fmt.Fprintf(os.Stdout, format+"\n", args...) }

func runChild(role string) int {
	seed, _ := strconv.ParseUint(os.Getenv(childSeed), 10, 64)
	c := &child{random: mathrand.New(mathrand.NewPCG(seed, 1)), id: strconv.Itoa(os.Getpid()), linked: func() {}}
	link := func(root *os.Root, from, to string) error {
		c.linked()
		return root.Link(from, to)
	}
	if role == "unprivileged" {
		dropPrivileges()
	}
	b, err := openDirBucket(os.Getenv(childDir), rand.Reader, link)
	if err != nil {
		reportf("error %v", err)
		return 1
	}
	c.dirBucket = b
	work := map[string]func(context.Context) error{
		"increment": c.incrementMany,
		"sleeper":   c.incrementAsleep,
		"locker":    c.lockMany,
	}[role]
	if err := work(untilInputEnds()); err != nil && !errors.Is(err, context.Canceled) {
		reportf("error %v", err)
		return 1
	}
	return 0
}

// untilInputEnds is cancelled when the parent closes the child's standard input.
func untilInputEnds() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer cancel()
		in := bufio.NewReader(os.Stdin)
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			inputLines <- line
		}
	}()
	return ctx
}

var inputLines = make(chan string, 1)

// insist repeats a write that was not made since its time was over: so it is for a
// process that was stopped in the middle of it.
func insist(write func() error) error {
	for {
		err := write()
		if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrUnknownOutcome) {
			return err
		}
	}
}

// put writes as [dirBucket.Put] does, without its limit of time.
func (c *child) put(key string, data []byte, condition Condition) error {
	return insist(func() error {
		_, err := c.Put(context.Background(), key, data, condition)
		return err
	})
}

// incrementMany increments the counter until told to stop. One link in a hundred
// waits in a stop of the process, until the parent continues it.
func (c *child) incrementMany(ctx context.Context) error {
	c.linked = func() {
		if c.random.IntN(100) == 0 {
			stopSelf()
		}
	}
	for ctx.Err() == nil {
		if err := c.increment(); err != nil {
			return err
		}
	}
	return nil
}

// increment makes one conditional update and reports it.
func (c *child) increment() error {
	o, err := c.Get(context.Background(), "counter")
	if err != nil {
		return err
	}
	value, err := strconv.Atoi(string(o.Data))
	if err != nil {
		return err
	}
	err = c.put("counter", strconv.AppendInt(nil, int64(value+1), 10), IfMatch(o.Version))
	switch {
	case err == nil:
		reportf("acked %d", value+1)
	case errors.Is(err, ErrUnknownOutcome):
		reportf("unknown %d", value+1)
	case !errors.Is(err, ErrConflict):
		return err
	}
	return nil
}

// incrementAsleep makes one update, and waits before its link for the parent.
func (c *child) incrementAsleep(context.Context) error {
	c.linked = func() {
		reportf("linking 0")
		<-inputLines
	}
	return c.increment()
}

// lockMany takes a lock that is the existence of a key, increments a counter
// without any condition, and removes the lock.
func (c *child) lockMany(ctx context.Context) error {
	for n := 0; ctx.Err() == nil; n++ {
		holder := fmt.Sprintf("%s.%d", c.id, n)
		taken, err := c.lock(ctx, holder)
		if err != nil {
			return err
		}
		if !taken {
			continue
		}
		value, err := c.bump()
		if err == nil {
			err = c.unlock(holder)
		}
		if err != nil {
			return err
		}
		reportf("acked %d", value)
	}
	return nil
}

func (c *child) lock(ctx context.Context, holder string) (bool, error) {
	for ctx.Err() == nil {
		err := c.put("lock", []byte(holder), IfAbsent())
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, ErrUnknownOutcome):
			return c.holds(holder)
		case !errors.Is(err, ErrConflict):
			return false, err
		}
	}
	return false, nil
}

func (c *child) holds(holder string) (bool, error) {
	o, err := c.Get(context.Background(), "lock")
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return string(o.Data) == holder, err
}

func (c *child) bump() (int, error) {
	o, err := c.Get(context.Background(), "counter")
	if err != nil {
		return 0, err
	}
	value, err := strconv.Atoi(string(o.Data))
	if err != nil {
		return 0, err
	}
	return value + 1, c.put("counter", strconv.AppendInt(nil, int64(value+1), 10), Overwrite())
}

func (c *child) unlock(holder string) error {
	for {
		err := insist(func() error { return c.Delete(context.Background(), "lock") })
		if !errors.Is(err, ErrUnknownOutcome) {
			return err
		}
		reportf("unknown 0")
		if mine, err := c.holds(holder); !mine {
			return err
		}
	}
}

// process is a child as its parent sees it.
type process struct {
	*exec.Cmd
	stdin interface{ Close() error }
	write func(line string)
}

// event is a line that a child reported.
type event struct {
	word  string
	value int
	text  string
}

// startChild starts a child and calls on for each line that it reports, from one
// goroutine, until the child has ended; then ended is closed.
func startChild(t *testing.T, role, dir string, seed uint64, on func(event)) (p *process, ended chan struct{}) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childRole+"="+role, childDir+"="+dir, childSeed+"="+strconv.FormatUint(seed, 10))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended = make(chan struct{})
	go func() {
		defer close(ended)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			on(parseEvent(lines.Text()))
		}
		_ = cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
	})
	return &process{Cmd: cmd, stdin: in, write: func(line string) { fmt.Fprintln(in, line) }}, ended
}

func parseEvent(line string) event {
	word, text, _ := strings.Cut(line, " ")
	value, _ := strconv.Atoi(text)
	return event{word: word, value: value, text: text}
}
