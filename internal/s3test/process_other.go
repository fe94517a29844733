//go:build !linux

package s3test

import "syscall"

// diesWithParent has no equivalent here: a server outlives a test process that
// dies without its cleanup.
func diesWithParent() *syscall.SysProcAttr { return nil }
