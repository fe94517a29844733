//go:build unix

package store

import (
	"os"
	"syscall"
)

// stopSelf stops this process until another one continues it.
func stopSelf() { _ = syscall.Kill(os.Getpid(), syscall.SIGSTOP) }

func (p *process) pause()  { _ = p.Process.Signal(syscall.SIGSTOP) }
func (p *process) resume() { _ = p.Process.Signal(syscall.SIGCONT) }

// dropPrivileges makes this process one of a user that owns nothing.
func dropPrivileges() {
	_ = syscall.Setgid(65534)
	_ = syscall.Setuid(65534)
}
