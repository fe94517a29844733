package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// nativeProject is the cargo project of the engine's own crate, from this module's folder.
const nativeProject = "test/bench/native"

// startNative builds the engine's Rust crate with what drives it: about five
// minutes, once.
func startNative(ctx context.Context) (*exec.Cmd, error) {
	if _, err := exec.LookPath("cargo"); err != nil {
		return nil, errors.New("the engine's crate is built with cargo, which is missing: install Rust from https://rustup.rs")
	}
	manifest := filepath.Join(nativeProject, "Cargo.toml")
	if _, err := os.Stat(manifest); err != nil {
		return nil, fmt.Errorf("run this in the project's folder: %w", err)
	}
	target, err := cacheFolder("native")
	if err != nil {
		return nil, err
	}
	build := exec.CommandContext(ctx, "cargo", "build", "--release", "--locked",
		"--manifest-path", manifest, "--target-dir", target)
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		return nil, fmt.Errorf("build the engine's crate: %w", err)
	}
	return exec.CommandContext(ctx, filepath.Join(target, "release", "native")), nil
}
