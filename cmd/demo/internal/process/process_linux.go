package process

import "syscall"

// diesWithParent lets the kernel kill the node when this process dies in a way
// that runs no cleanup.
func diesWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
