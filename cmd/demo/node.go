package main

import (
	"context"
	"errors"
	"io"

	"github.com/slap-go/slap/cmd/demo/internal/node"
)

func runNode(ctx context.Context, arguments []string, stdout, stderr io.Writer) error {
	options, err := node.ParseOptions(arguments, stdout)
	if err != nil {
		return err
	}
	err = node.Run(ctx, options, stdout, stderr)
	if errors.Is(err, node.ErrEnded) {
		return failure{err}
	}
	return err
}
