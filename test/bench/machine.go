package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
)

var cpuModel = regexp.MustCompile(`(?m)^model name\s*:\s*(.+)$`)

// machine describes where the figures come from.
func machine(ctx context.Context) string {
	model := "unknown processor"
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if m := cpuModel.FindSubmatch(text); m != nil {
			model = string(m[1])
		}
	}
	kernel := runtime.GOOS
	if out, err := exec.CommandContext(ctx, "uname", "-sr").Output(); err == nil {
		kernel = strings.TrimSpace(string(out))
	}
	return fmt.Sprintf("%s, %d cores, %s/%s, %s, %s",
		model, runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, kernel, runtime.Version())
}
