package supervision

import "time"

// A verb says what the core wants done.
type verb int

const (
	doSpawn  verb = iota // start the kid's next incarnation
	doStop               // tell the kid to stop, and report it as overdue after a time; zero means right away
	doArm                // report the kid as overdue after a time; zero means right away
	doDisarm             // the kid has ended: forget its timer
	doKill               // end a kid that is a supervisor: it abandons all of its children
	doEmit               // publish the event
	doReply              // answer a request
	doReady              // all children are started
	doLeave              // the supervisor begins to end with this reason
	doFinish             // all children are gone: end
)

// An action is one thing for the shell to do. Actions are done in order.
type action struct {
	do     verb
	kid    *kid
	after  time.Duration
	event  Event
	asked  *request
	reason error
}
