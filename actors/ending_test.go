package actors

import (
	"errors"
	"testing"
	"time"

	"github.com/slap-go/slap/store/slatedb"
)

// A close that fails after the lease has run out met the fence of the next owner, whatever
// the engine calls it; before that it is a failure.
func TestSHD10_ACloseAfterTheLeaseThatMeetsAFenceIsNoFailure(t *testing.T) {
	clean := &slatedb.Error{Kind: slatedb.KindClosed, Reason: slatedb.ReasonClean, Message: "db is closed"}
	damaged := &slatedb.Error{Kind: slatedb.KindData, Message: "damaged"}
	for name, c := range map[string]struct {
		left    time.Duration // of the lease
		reason  error
		failure error
	}{
		"after the lease":              {-time.Second, clean, nil},
		"within the lease":             {time.Hour, clean, clean},
		"after the lease, for another": {-time.Second, damaged, damaged},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShard(0, "x", lasting(c.left), &Config{}, nil)
			s.end(lastWord{reason: c.reason})
			if failure := s.closeFailure(); !errors.Is(failure, c.failure) {
				t.Errorf("%v, want %v", failure, c.failure)
			}
		})
	}
}
