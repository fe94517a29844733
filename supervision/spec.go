package supervision

import (
	"fmt"
	"math"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// Restart says when a child that ended is started again.
type Restart int

const (
	// Permanent children are always started again. It is the default.
	Permanent Restart = iota
	// Transient children are started again after a crash, not after a normal exit or a shutdown.
	Transient
	// Temporary children are never started again.
	Temporary
)

// String is the kind in lower case.
func (r Restart) String() string { return nameOf(r, "permanent", "transient", "temporary") }

// Strategy says which children are started again together with one that ended.
type Strategy int

const (
	// OneForOne restarts only the child that ended. It is the default.
	OneForOne Strategy = iota
	// OneForAll stops all other children too and starts all of them again.
	OneForAll
	// RestForOne stops the children that come after the one that ended, and starts it and those again.
	// A dynamic child has none after it.
	RestForOne
)

// String is the strategy in lower case.
func (s Strategy) String() string { return nameOf(s, "one-for-one", "one-for-all", "rest-for-one") }

// AutoShutdown says whether a supervisor ends with its significant children.
type AutoShutdown int

const (
	// Never means that the supervisor outlives all of its children. It is the default.
	Never AutoShutdown = iota
	// AnySignificant ends the supervisor when the first significant child has ended for good.
	AnySignificant
	// AllSignificant ends the supervisor when the last significant child has ended for good.
	AllSignificant
)

// String is the setting in lower case.
func (a AutoShutdown) String() string {
	return nameOf(a, "never", "any-significant", "all-significant")
}

// Readiness says when a child counts as started.
type Readiness int

const (
	// AtOnce children are ready when their Started callback returns. It is the default.
	AtOnce Readiness = iota
	// Manual children are ready when they call [Ready]; there is no time limit.
	Manual
)

// String is the setting in lower case.
func (r Readiness) String() string { return nameOf(r, "at-once", "manual") }

const (
	// DefaultShutdown is the time that a child has to stop when its spec says nothing.
	DefaultShutdown = 5 * time.Second
	// Infinity lets a child take as long as it needs to stop. It is the default of nested supervisors.
	Infinity time.Duration = math.MaxInt64
	// Brutal abandons a child at once when its supervisor stops it. A child that ends by itself has
	// [DefaultShutdown].
	Brutal time.Duration = -1

	// DefaultIntensity is the number of restarts that a supervisor allows within its period.
	DefaultIntensity = 3
	// DefaultPeriod is the period of [DefaultIntensity].
	DefaultPeriod = 5 * time.Second
	// NoRestarts is the intensity of a supervisor that ends with the first child that would be restarted.
	NoRestarts = -1
)

// A Spec describes a supervisor. It is not changed by this package and may be used more than once.
type Spec struct {
	// AutoShutdown ends the supervisor with its significant children. Default: [Never].
	AutoShutdown AutoShutdown

	// Children are started in this order and stopped in reverse.
	Children []ChildSpec

	// Events is told what happens, in the supervisor's goroutine and in order. It must return quickly and
	// must not wait for this supervisor: nothing is supervised meanwhile. A panic in it is logged.
	// Default: the parent supervisor's; nothing at the top.
	Events func(Event)

	// Intensity is the number of restarts allowed within Period; one more ends the supervisor with
	// an [IntensityError]. A restart of several children counts as one. Default: [DefaultIntensity];
	// [NoRestarts] allows none.
	Intensity int

	// Name is the root supervisor's name in the actor system, "supervisor" and a number by default.
	// A nested supervisor has the name of its ChildSpec.
	Name string

	// Period is the time over which Intensity counts. Default: [DefaultPeriod].
	Period time.Duration

	// Strategy says which children are restarted together. Default: [OneForOne].
	Strategy Strategy
}

// A ChildSpec describes a child: an actor, or a supervisor with children of its own.
type ChildSpec struct {
	// Name is unique among the children, not empty, and has no slash. The child's PID has the
	// supervisor's id, a slash and the name, in every incarnation; see [PID].
	Name string

	// New makes the actor. It runs in the child's own goroutine right before its Started callback, once for
	// each incarnation. Exactly one of New and Supervisor is set.
	New func() actor.Actor

	// Supervisor makes the child a supervisor, ready once its children are.
	Supervisor *Spec

	// Props are applied to the actor's props: middleware, decorators, functions to be called at its spawn. The
	// producer, mailbox, dispatcher, spawner, guardian and supervision strategy are this package's and cannot
	// be set; an actor that supervises actors of its own implements [actor.SupervisorStrategy]. Not for
	// supervisors.
	Props []actor.PropsOption

	// Mailbox makes the actor's mailbox. Default: [actor.Unbounded]. Proto.Actor's bounded ones make their senders
	// spin. Not for supervisors.
	Mailbox actor.MailboxProducer

	// Restart says when the child is started again. Default: [Permanent].
	Restart Restart

	// Shutdown is the time that the child has to stop; then it is abandoned. It also bounds the stop of a
	// child that ends by itself. Default: [DefaultShutdown]; [Infinity] for a supervisor. See [Brutal].
	Shutdown time.Duration

	// Significant children end their supervisor as its AutoShutdown says. Not for permanent children.
	Significant bool

	// Ready says when the child counts as started. Default: [AtOnce]. Supervisors say it themselves.
	Ready Readiness
}

// withDefaults is the spec with its zero values replaced.
func (s Spec) withDefaults() Spec {
	switch s.Intensity {
	case 0:
		s.Intensity = DefaultIntensity
	case NoRestarts:
		s.Intensity = 0
	}
	if s.Period == 0 {
		s.Period = DefaultPeriod
	}
	return s
}

// mailbox is a new mailbox for the child.
func (s *ChildSpec) mailbox() actor.Mailbox {
	if s.Mailbox == nil {
		return unbounded()
	}
	m := s.Mailbox()
	if m == nil {
		panic(fmt.Errorf("%w: Mailbox of child %q returned nil", ErrSpec, s.Name))
	}
	return m
}

var unbounded = actor.Unbounded()

// shutdown is the time that the child has to stop, with its default.
func (s *ChildSpec) shutdown() time.Duration {
	switch {
	case s.Shutdown != 0:
		return s.Shutdown
	case s.Supervisor != nil:
		return Infinity
	default:
		return DefaultShutdown
	}
}

// nameOf is the name of a constant that counts from zero.
func nameOf[T ~int](v T, names ...string) string {
	if v < 0 || int(v) >= len(names) {
		return "invalid"
	}
	return names[v]
}
