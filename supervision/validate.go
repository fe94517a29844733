package supervision

import (
	"errors"
	"fmt"
	"strings"
)

// ErrSpec is in every error about a supervisor's or a child's description.
var ErrSpec = errors.New("bad supervision spec")

// Validate reports the first mistake in the spec and in the specs below it. [Start] calls it.
func (s Spec) Validate() error {
	if err := s.validate(s.Name); err != nil {
		return fmt.Errorf("%w: %w", ErrSpec, err)
	}
	return nil
}

// validate reports the first mistake of the supervisor with this name.
func (s Spec) validate(name string) error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("supervisor %q: "+format, append([]any{name}, args...)...)
	}
	switch {
	case s.Strategy.String() == "invalid":
		return fail("Strategy %d is unknown: use OneForOne, OneForAll or RestForOne", s.Strategy)
	case s.AutoShutdown.String() == "invalid":
		return fail("AutoShutdown %d is unknown: use Never, AnySignificant or AllSignificant", s.AutoShutdown)
	case s.Intensity < NoRestarts:
		return fail("Intensity %d is negative: use NoRestarts to allow none", s.Intensity)
	case s.Period < 0:
		return fail("Period %v is negative", s.Period)
	}
	seen := make(map[string]bool, len(s.Children))
	for i := range s.Children {
		child := &s.Children[i]
		if err := child.validate(s.AutoShutdown); err != nil {
			return fail("%w", err)
		}
		if seen[child.Name] {
			return fail("two children have the Name %q", child.Name)
		}
		seen[child.Name] = true
	}
	return nil
}

// check is validate for a child that is started by itself.
func (s *ChildSpec) check(auto AutoShutdown) error {
	if err := s.validate(auto); err != nil {
		return fmt.Errorf("%w: %w", ErrSpec, err)
	}
	return nil
}

// validate reports the first mistake of a child under a supervisor with this setting.
func (s *ChildSpec) validate(auto AutoShutdown) error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("child %q: "+format, append([]any{s.Name}, args...)...)
	}
	switch {
	case s.Name == "":
		return fail("Name is empty")
	case strings.Contains(s.Name, "/"):
		return fail("Name has a slash, which separates a supervisor from its child")
	case s.New == nil && s.Supervisor == nil:
		return fail("New is missing: set New or Supervisor")
	case s.New != nil && s.Supervisor != nil:
		return fail("New and Supervisor are both set: set one")
	case s.Supervisor != nil && len(s.Props) > 0:
		return fail("Props are not for a supervisor")
	case s.Supervisor != nil && s.Mailbox != nil:
		return fail("Mailbox is not for a supervisor")
	case s.Restart.String() == "invalid":
		return fail("Restart %d is unknown: use Permanent, Transient or Temporary", s.Restart)
	case s.Ready.String() == "invalid":
		return fail("Ready %d is unknown: use AtOnce or Manual", s.Ready)
	case s.Shutdown < 0 && s.Shutdown != Brutal:
		return fail("Shutdown %v is negative: use Brutal to wait not at all", s.Shutdown)
	case s.Significant && s.Restart == Permanent:
		return fail("Significant needs Restart Transient or Temporary: a permanent child never ends for good")
	case s.Significant && auto == Never:
		return fail("Significant has no meaning while the supervisor's AutoShutdown is Never")
	case s.Supervisor != nil:
		return s.Supervisor.validate(s.Name)
	default:
		return nil
	}
}
