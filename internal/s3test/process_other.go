//go:build !linux

package s3test

import "syscall"

// diesWithParent has no equivalent here: a server outlives a test process that
// dies without its cleanup.
func diesWithParent() *syscall.SysProcAttr { return nil }

// awaitStopped has no equivalent here: the server's threads run on for a moment.
func awaitStopped(int) error { return nil }
