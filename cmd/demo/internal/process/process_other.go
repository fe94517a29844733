//go:build !linux

package process

import "syscall"

// diesWithParent has no equivalent here: a node outlives a parent that is killed.
func diesWithParent() *syscall.SysProcAttr { return nil }
