package supervision

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// Each mistake is one sentence that names the supervisor, the child, the field and the fix.
func TestBadSpecs(t *testing.T) {
	child := func(change func(*ChildSpec)) Spec {
		c := ChildSpec{Name: "a", New: newObedient}
		change(&c)
		return Spec{Name: "s", Children: []ChildSpec{c}}
	}
	for want, spec := range map[string]Spec{
		`supervisor "s": Strategy 3 is unknown`:            {Name: "s", Strategy: 3},
		`supervisor "s": AutoShutdown -1 is unknown`:       {Name: "s", AutoShutdown: -1},
		`supervisor "s": Intensity -2 is negative`:         {Name: "s", Intensity: -2},
		`supervisor "s": Period -1s is negative`:           {Name: "s", Period: -time.Second},
		`supervisor "s": child "": Name is empty`:          child(func(c *ChildSpec) { c.Name = "" }),
		`supervisor "s": child "a/b": Name has a slash`:    child(func(c *ChildSpec) { c.Name = "a/b" }),
		`child "a": New is missing: set New or Supervisor`: child(func(c *ChildSpec) { c.New = nil }),
		`child "a": New and Supervisor are both set`:       child(func(c *ChildSpec) { c.Supervisor = &Spec{} }),
		`child "a": Props are not for a supervisor`: child(func(c *ChildSpec) {
			c.New, c.Supervisor, c.Props = nil, &Spec{}, []actor.PropsOption{nil}
		}),
		`child "a": Mailbox is not for a supervisor`: child(func(c *ChildSpec) {
			c.New, c.Supervisor, c.Mailbox = nil, &Spec{}, actor.Unbounded()
		}),
		`child "a": Restart 3 is unknown`:            child(func(c *ChildSpec) { c.Restart = 3 }),
		`child "a": Ready 2 is unknown`:              child(func(c *ChildSpec) { c.Ready = 2 }),
		`child "a": Shutdown -1s is negative`:        child(func(c *ChildSpec) { c.Shutdown = -time.Second }),
		`child "a": Significant needs Restart`:       child(func(c *ChildSpec) { c.Significant = true }),
		`child "a": Significant has no meaning`:      child(func(c *ChildSpec) { c.Significant, c.Restart = true, Transient }),
		`supervisor "s": two children have the Name`: {Name: "s", Children: []ChildSpec{{Name: "a", New: newObedient}, {Name: "a", New: newObedient}}},
		`supervisor "s": supervisor "a": child "b": New is missing`: child(func(c *ChildSpec) {
			c.New, c.Supervisor = nil, &Spec{Children: []ChildSpec{{Name: "b"}}}
		}),
	} {
		t.Run(want, func(t *testing.T) {
			_, err := Start(within(t), newSystem(), spec)
			if !errors.Is(err, ErrSpec) || !strings.Contains(err.Error(), want) {
				t.Errorf("err = %v, want %q in it", err, want)
			}
		})
	}
}

func TestZeroValues(t *testing.T) {
	spec := Spec{}.withDefaults()
	if spec.Intensity != DefaultIntensity || spec.Period != DefaultPeriod || spec.Strategy != OneForOne || spec.AutoShutdown != Never {
		t.Errorf("spec %+v", spec)
	}
	if n := (Spec{Intensity: NoRestarts}).withDefaults().Intensity; n != 0 {
		t.Errorf("NoRestarts is %d", n)
	}
	for want, child := range map[time.Duration]ChildSpec{
		DefaultShutdown: {New: newObedient},
		Infinity:        {Supervisor: &Spec{}},
		Brutal:          {Supervisor: &Spec{}, Shutdown: Brutal},
		time.Second:     {Shutdown: time.Second},
	} {
		if got := child.shutdown(); got != want {
			t.Errorf("%+v: shutdown %v, want %v", child, got, want)
		}
	}
}

func TestNames(t *testing.T) {
	for got, want := range map[string]string{
		Permanent.String():      "permanent",
		Transient.String():      "transient",
		Temporary.String():      "temporary",
		RestForOne.String():     "rest-for-one",
		AllSignificant.String(): "all-significant",
		Manual.String():         "manual",
		Readiness(7).String():   "invalid",
		stopping.String():       "stopping",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A spec is not changed, and a tree does not see later changes of it.
func TestSpecIsCopied(t *testing.T) {
	spec := Spec{Children: []ChildSpec{{Name: "a", New: newObedient}}}
	f := start(t, spec)
	spec.Children[0] = ChildSpec{}
	f.tell("a", func(actor.Context) { panic("boom") })
	f.restarted("a", 1)
}

// A child's context ends with the child and tells why.
func TestContextEndsWithItsChild(t *testing.T) {
	f, got := start(t, Spec{}), make(chan context.Context, 2)
	f.start(ChildSpec{Name: "a", New: newObedient, Restart: Temporary})
	f.tell("a", func(c actor.Context) {
		got <- Context(c)
		got <- Context(c)
		Exit(c, errFenced)
	})
	ctx := <-got
	if ctx != <-got {
		t.Error("two contexts for one child")
	}
	f.await(ctx.Done(), "the context's end")
	if cause := context.Cause(ctx); !errors.Is(cause, errFenced) {
		t.Errorf("cause %v", cause)
	}
}
