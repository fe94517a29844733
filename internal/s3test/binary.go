package s3test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"syscall"
)

const (
	serverPackage = "github.com/versity/versitygw/cmd/versitygw"
	buildHint     = "run `go run ./internal/s3test/build` with network access"
)

var pinnedVersion = regexp.MustCompile(`(?m)^\s*github\.com/versity/versitygw (v\S+)`)

// Build returns the path of the server's executable and builds it first if this
// machine does not have the pinned version yet (about two minutes, once).
// Several processes may call it at once: one builds, the others wait.
func Build(ctx context.Context) (string, error) {
	tools, version, err := pinned()
	if err != nil {
		return "", fmt.Errorf("the S3 test server cannot be located: %w", err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("the S3 test server has no place to be kept: set HOME or XDG_CACHE_HOME: %w", err)
	}
	name := fmt.Sprintf("versitygw-%s-%s-%s", version, runtime.GOOS, runtime.GOARCH)
	binary := filepath.Join(cache, "slap", "tools", name)
	if err := buildOnce(ctx, tools, binary); err != nil {
		return "", fmt.Errorf("the S3 test server cannot be built, %s: %w", buildHint, err)
	}
	return binary, nil
}

func buildOnce(ctx context.Context, tools, binary string) error {
	if present(binary) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(binary), 0o755); err != nil {
		return err
	}
	unlock, err := lock(binary + ".lock")
	if err != nil {
		return err
	}
	defer unlock()
	if present(binary) {
		return nil
	}
	return compile(ctx, tools, binary)
}

// compile builds beside the target and renames, so that a build that was
// interrupted leaves nothing that looks like an executable.
func compile(ctx context.Context, tools, binary string) error {
	partial := binary + ".partial"
	defer os.Remove(partial)
	var output bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", "build", "-C", tools, "-trimpath", "-o", partial, serverPackage)
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=", "CGO_ENABLED=0", "GOOS=", "GOARCH=")
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%w: %s", err, lastLine(output.Bytes()))
	}
	return os.Rename(partial, binary)
}

func present(binary string) bool {
	info, err := os.Stat(binary)
	return err == nil && info.Mode().IsRegular()
}

// lock waits for the file's lock, which ends with the process at the latest.
func lock(path string) (unlock func(), err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return func() { _ = file.Close() }, nil
}

// pinned finds the tools module above the working directory, which is the
// package's folder when `go test` runs it, and the server's version in it.
func pinned() (tools, version string, err error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", "", err
	}
	for {
		tools = filepath.Join(dir, "tools")
		if data, err := os.ReadFile(filepath.Join(tools, "go.mod")); err == nil {
			if m := pinnedVersion.FindSubmatch(data); m != nil {
				return tools, string(m[1]), nil
			}
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", "", errors.New("no tools/go.mod that pins versitygw above the working directory")
		}
		dir = parent
	}
}

func lastLine(output []byte) []byte {
	lines := bytes.Split(bytes.TrimSpace(output), []byte("\n"))
	return lines[len(lines)-1]
}
