package actors

import (
	"errors"
	"time"

	"github.com/slap-go/slap/messages"
)

// refreshTimeout bounds the look at where the shards are before another try.
const refreshTimeout = 5 * time.Second

// Retry says how often and after which time a request that was not executed is
// tried again.
type Retry struct {
	Count int
	Delay time.Duration // times the number of the try, plus up to a half
}

// again says whether another try, after so many, may find what this one did not. Only
// what was not executed is tried again.
func (r Retry) again(tries int, err error) bool {
	if tries > r.Count || !errors.Is(err, messages.ErrNotExecuted) {
		return false
	}
	for _, kind := range []error{
		messages.ErrUnassigned, messages.ErrNotOwner, messages.ErrNoConnection, messages.ErrStopping, messages.ErrFenced,
	} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

// pause before the try after this one: delay × try, plus up to a half of it.
func (r Retry) pause(try int, random func(int64) int64) time.Duration {
	base := r.Delay * time.Duration(try)
	return base + time.Duration(random(max(int64(base)/2, 1)))
}
