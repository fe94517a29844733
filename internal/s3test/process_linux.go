package s3test

import "syscall"

// diesWithParent lets the kernel kill the server when this process dies in a way
// that runs no cleanup, such as a test's timeout.
func diesWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
