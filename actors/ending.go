package actors

import (
	"errors"

	"github.com/slap-go/slap/internal/clock"
	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/store/slatedb"
	"github.com/slap-go/slap/strategy"
	"github.com/slap-go/slap/supervision"
)

// event hears of the shard's supervisor; not of the one of its children.
func (s *Shard) event(e supervision.Event) {
	s.events(e)
	if stopped, ok := e.(supervision.SupervisorStopped); ok {
		s.ended(stopped.Reason)
	}
}

// ended tells how the opening ended, once nothing of it runs.
func (s *Shard) ended(reason error) {
	down := strategy.Stopped
	if supervision.IsCrash(reason) {
		down = s.downReason(reason)
	}
	switch cause := startError(rootReason(reason)); {
	case s.DB() != nil:
		stopped := messages.ShardStopped{ShardOrigin: s.origin(), Reason: down.String(), Status: s.Status().String()}
		if down == strategy.Crashed {
			stopped.Err = cause
		} else {
			stopped.Err = s.closeFailure()
		}
		s.publish(stopped)
	case down == strategy.Crashed:
		s.publish(messages.ShardFailed{ShardOrigin: s.origin(), Err: cause})
	}
}

// downReason is why the shard ended by itself.
func (s *Shard) downReason(reason error) strategy.DownReason {
	if errors.Is(reason, ErrFenced) || s.Status() == Fenced {
		return strategy.Fenced
	}
	return strategy.Crashed
}

// closeFailure is why the close failed; nil if it did not, was cut short by a fence, or
// goes on. After the end of the lease a fence is expected, and a clean end is what the
// engine may call one that it meets while it closes.
func (s *Shard) closeFailure() error {
	_, reason := s.lastWord()
	if end, ok := errors.AsType[*slatedb.Error](reason); ok && end.Reason == slatedb.ReasonClean && !s.gate.valid() {
		return nil
	}
	for _, known := range []error{messages.ErrStopping, ErrFenced, errCloseAbandoned} {
		if errors.Is(reason, known) {
			return nil
		}
	}
	return reason
}

// lag is how many writes are not durable yet.
func (s *Shard) lag() uint64 {
	written, durable := s.WrittenSeq(), s.DurableSeq()
	return max(written, durable) - durable // a write may be durable before its number is noted
}

func (s *Shard) publish(e messages.Event) { s.config.Events.Publish(e) }

// origin is where an event of this opening comes from, now.
func (s *Shard) origin() messages.ShardOrigin {
	return messages.ShardOrigin{
		Origin: s.config.origin(), Shard: s.number, Generation: s.Generation(), Opening: s.opening,
	}
}

// origin is where an event of this node comes from, now.
func (c *Config) origin() messages.Origin {
	return messages.Origin{Cluster: c.Cluster, Time: clock.Now()}
}
