package library

import (
	"testing"
	"time"

	"go.uber.org/goleak"
)

const (
	waitLong  = 30 * time.Second
	pollOften = 10 * time.Millisecond
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
