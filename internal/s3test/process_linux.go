package s3test

import (
	"errors"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// diesWithParent lets the kernel kill the server when this process dies in a way
// that runs no cleanup, such as a test's timeout.
func diesWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

// awaitStopped waits until a child that was sent SIGSTOP has stopped: its threads
// run on for a moment. The child's state is left to be waited for again.
func awaitStopped(pid int) error {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WSTOPPED|unix.WNOWAIT, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return fmt.Errorf("wait for the S3 test server to stop: %w", err)
		}
		return nil
	}
}
