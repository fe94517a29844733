package links

import (
	"errors"
	"fmt"
	"time"
)

// ErrRefused says that a node answers a greeting, and why it wants nothing to do with this
// one.
var ErrRefused = errors.New("refused")

var (
	errClosed = errors.New("this node is stopping")
	errSilent = fmt.Errorf("no sign of life for %v", silence)
	errIdle   = errors.New("the link was not used")
	errBye    = errors.New("the node said goodbye")
	errSlow   = errors.New("it takes its answers too slowly")
)

// notYet is why a call does not wait longer for a connection.
func notYet(after time.Duration) error {
	return fmt.Errorf("no connection after %v", after.Round(time.Millisecond))
}
