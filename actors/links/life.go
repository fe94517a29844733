package links

import "time"

const (
	pingEvery  = time.Second
	silence    = 3 * time.Second // after which a link is down
	idle       = time.Minute     // after which one that nobody uses is closed
	dialPause  = 100 * time.Millisecond
	dialAtMost = time.Second // for the connection, and again for the answer to the greeting
)

// life decides when the link to a peer is made, pinged and given up, and what is told of
// it. It is a state machine without clock or I/O; the transcripts in testdata show what it
// does.
type life struct {
	phase   phase
	since   time.Time     // of the phase
	used    time.Time     // when somebody needed it last
	looked  time.Time     // at the last tick
	silent  time.Duration // since something came from the peer last
	pinged  time.Time
	missing bool      // it was told that the peer cannot be reached
	left    time.Time // when the last connection ended in good order
}

type phase uint8

const (
	down phase = iota
	dialing
	up
)

// deed is something that the state machine wants done.
type deed uint8

const (
	dial        deed = iota + 1 // connect and greet
	ping                        // ask for a sign of life
	hangUp                      // close the connection, which is idle
	giveUp                      // close the connection, which is silent
	unreachable                 // tell it
	reachable                   // tell it
)

// need says that somebody wants to send. A peer that could not be reached is left alone
// for a moment.
func (l *life) need(now time.Time) []deed {
	l.used = now
	if l.phase != down || !l.since.IsZero() && now.Sub(l.since) < dialPause {
		return nil
	}
	l.phase, l.since = dialing, now
	return []deed{dial}
}

// connected says that the peer has answered the greeting.
func (l *life) connected(now time.Time) []deed {
	l.phase, l.since, l.looked, l.silent, l.pinged, l.left = up, now, now, 0, now, time.Time{}
	if !l.missing {
		return nil
	}
	l.missing = false
	return []deed{reachable}
}

// failed says that the peer cannot be connected to.
func (l *life) failed(now time.Time) []deed {
	l.phase, l.since = down, now
	if !l.left.IsZero() && now.Sub(l.left) < silence {
		return nil // it has stopped; who calls it has not heard of that
	}
	return l.miss()
}

// lost says that the connection has ended. One that ended in good order is no news.
func (l *life) lost(now time.Time, orderly bool) []deed {
	if l.phase != up {
		return nil
	}
	l.phase, l.since = down, now
	if orderly {
		l.since, l.left = time.Time{}, now
		return nil
	}
	return l.miss()
}

// tick looks at a link that is up. Heard says that something came from the peer since the
// last look, busy that it is in use. Of a longer time between two looks only a part counts
// as silence: it is this process that did not run.
func (l *life) tick(now time.Time, heard, busy bool) []deed {
	if l.phase != up {
		return nil
	}
	l.silent += min(now.Sub(l.looked), pingEvery)
	l.looked = now
	if heard {
		l.silent = 0
	}
	if busy {
		l.used = now
	}
	switch {
	case l.silent >= silence:
		l.phase, l.since = down, now
		return append([]deed{giveUp}, l.miss()...)
	case now.Sub(l.used) >= idle:
		l.phase, l.since = down, time.Time{}
		return []deed{hangUp}
	case now.Sub(l.pinged) >= pingEvery:
		l.pinged = now
		return []deed{ping}
	}
	return nil
}

// forgotten says whether nobody has needed the peer for so long that nothing of it is
// worth keeping.
func (l *life) forgotten(now time.Time) bool { return l.phase == down && now.Sub(l.used) >= idle }

func (l *life) miss() []deed {
	if l.missing {
		return nil
	}
	l.missing = true
	return []deed{unreachable}
}
