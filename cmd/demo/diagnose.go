package main

import (
	"context"
	"errors"
	"io"
)

func runDiagnose(context.Context, []string, io.Writer, io.Writer) error {
	return errors.New("--store is not looked at yet")
}
