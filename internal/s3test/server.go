package s3test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/slap-go/slap/store"
)

// What the server accepts.
const (
	AccessKey = "testkey"
	SecretKey = "testsecret"
	Region    = "us-east-1"
)

// startTimeout bounds one start of the server on a loaded machine.
const startTimeout = 30 * time.Second

// Server is a running S3 server on the loopback interface. Its methods are safe
// for concurrent use.
type Server struct {
	// Endpoint is the server's URL, the same over restarts.
	Endpoint string

	binary, dir, address string

	mu   sync.Mutex
	proc *process // nil while stopped
}

// Start runs a server with the given buckets until the test ends.
func Start(tb testing.TB, buckets ...string) *Server {
	tb.Helper()
	s, err := Launch(tb.TempDir(), buckets...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.Kill)
	return s
}

// Launch runs a server over the directory dir until [Server.Kill], or until this
// process ends (Linux). It is for a TestMain or a benchmark; tests use [Start].
func Launch(dir string, buckets ...string) (*Server, error) {
	binary, err := Build(context.Background())
	if err != nil {
		return nil, err
	}
	s := &Server{binary: binary, dir: dir}
	for _, b := range buckets {
		if err := s.CreateBucket(b); err != nil {
			return nil, err
		}
	}
	for range 5 {
		if s.address, err = freeAddress(); err != nil {
			return nil, err
		}
		if err = s.Restart(); err == nil {
			s.Endpoint = "http://" + s.address
			return s, nil
		}
	}
	return nil, err
}

// CreateBucket makes a bucket, whether the server runs or not.
func (s *Server) CreateBucket(name string) error {
	if err := os.MkdirAll(filepath.Join(s.dir, "buckets", name), 0o755); err != nil {
		return fmt.Errorf("the S3 test server has no bucket %q: %w", name, err)
	}
	return nil
}

// Store is the store at prefix of a bucket of this server.
func (s *Server) Store(bucket, prefix string) store.Store {
	return storeAt(s.Endpoint, bucket, prefix)
}

func storeAt(endpoint, bucket, prefix string) store.Store {
	return store.S3(store.S3Options{
		Bucket: bucket, Prefix: prefix, Region: Region, Endpoint: endpoint,
		Credentials: credentials.NewStaticCredentialsProvider(AccessKey, SecretKey, ""),
	})
}

// URL is the same store for [store.Parse] and command lines; it needs [Server.Env].
func (s *Server) URL(bucket, prefix string) string { return s.Store(bucket, prefix).String() }

// Env is the environment that lets another process reach the server.
func (s *Server) Env() []string {
	return []string{"AWS_ACCESS_KEY_ID=" + AccessKey, "AWS_SECRET_ACCESS_KEY=" + SecretKey, "AWS_REGION=" + Region}
}

// Kill ends the server as kill -9 does and waits for its end. Acknowledged
// objects stay.
func (s *Server) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc != nil {
		s.proc.kill()
		s.proc = nil
	}
}

// Restart kills the server if it runs and starts it again over the same objects
// at the same address. It returns when the server answers.
func (s *Server) Restart() error {
	s.Kill()
	s.mu.Lock()
	defer s.mu.Unlock()
	proc, err := launch(s.command())
	if err != nil {
		return err
	}
	if err := proc.awaitReady("http://" + s.address); err != nil {
		proc.kill()
		return err
	}
	s.proc = proc
	return nil
}

// Pause stops the server without ending it (SIGSTOP): connections are accepted
// and nothing is answered. It returns when the server has stopped.
func (s *Server) Pause() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.signal(syscall.SIGSTOP); err != nil {
		return err
	}
	return awaitStopped(s.proc.cmd.Process.Pid)
}

// Continue ends a [Server.Pause].
func (s *Server) Continue() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.signal(syscall.SIGCONT)
}

// signal is called with the lock held.
func (s *Server) signal(sig syscall.Signal) error {
	if s.proc == nil {
		return errors.New("the S3 test server is not running")
	}
	return s.proc.cmd.Process.Signal(sig)
}

func (s *Server) command() *exec.Cmd {
	cmd := exec.Command(s.binary, "--port", s.address, "--keep-alive", "--quiet", "--region", Region,
		"posix", "--disableotmp", filepath.Join(s.dir, "buckets"))
	cmd.Dir = s.dir
	cmd.Env = []string{
		"ROOT_ACCESS_KEY=" + AccessKey, "ROOT_SECRET_KEY=" + SecretKey,
		"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir,
	}
	cmd.SysProcAttr = diesWithParent()
	return cmd
}

// freeAddress is an address for the server.
func freeAddress() (string, error) {
	listener, err := listen()
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

// The ports below the range that the kernel gives to outgoing connections of other
// processes, which would take one while nobody listens.
const (
	lowest = 20_000
	ports  = 12_000
)

// Each listen takes a port that follows those of the calls before, so that none is given
// while its server is down. The first is at random, for the sake of other processes.
var (
	first = rand.IntN(ports)
	taken atomic.Int64
)

func listen() (net.Listener, error) {
	for range 100 {
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(lowest+(first+int(taken.Add(1)))%ports))
		if listener, err := net.Listen("tcp", address); err == nil {
			return listener, nil
		}
	}
	return nil, errors.New("no free port on 127.0.0.1 for a test server")
}

// answers says whether an S3 server refuses an unsigned request at url.
func answers(url string) bool {
	client := &http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Get(url)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	return response.StatusCode == http.StatusForbidden
}
