package supervision

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/slap-go/slap/internal/transcript"
)

// TestTranscripts plays the inputs of each file in testdata to a core and compares what it does, the indented
// lines, with the file.
func TestTranscripts(t *testing.T) {
	transcript.Test(t, func(t *testing.T, out *strings.Builder) func([]string) {
		t.Helper()
		p := &player{t: t, now: time.Unix(0, 0), asked: make(map[*request]string), out: out}
		return p.input
	})
}

// A player is a core, its clock and the requests that wait.
type player struct {
	t     *testing.T
	spec  Spec
	core  *core
	now   time.Time
	asked map[*request]string
	out   *strings.Builder
}

// input feeds one line to the core.
func (p *player) input(words []string) {
	switch words[0] {
	case "supervisor":
		p.spec, p.core, p.now = p.supervisor(words[1:]), nil, time.Unix(0, 0)
		return
	case "child":
		p.spec.Children = append(p.spec.Children, p.child(words[1:]))
		return
	case "after":
		p.now = p.now.Add(p.duration(words[1]))
		return
	case "start":
		if err := p.spec.Validate(); err != nil {
			p.t.Fatal(err)
		}
		p.core = newCore("s", p.spec)
		p.core.start()
	case "start-child":
		spec := p.child(words[1:])
		p.core.startChild(&spec, p.ask(words))
	case "stop-child":
		p.core.stopChild(words[1], p.ask(words))
	case "shutdown":
		p.core.shutdown(ErrShutdown)
	case "kill":
		p.core.kill(ErrShutdown)
	case "table":
		p.table()
	default:
		p.kid(words)
	}
	for _, a := range p.core.out {
		fmt.Fprintf(p.out, "  %s\n", p.text(a))
	}
	p.core.out = nil
}

// kid feeds what happened to a kid.
func (p *player) kid(words []string) {
	k := p.core.names[words[1]]
	if k == nil {
		p.t.Fatalf("no child %q", words[1])
	}
	switch words[0] {
	case "ready":
		p.core.kidReady(k)
	case "leaving":
		p.core.kidLeaving(k)
	case "down":
		p.core.kidDown(p.now, k, reasonOf(words[2:]), nil)
	case "overdue":
		p.core.kidOverdue(p.now, k, reasonOf(words[2:]))
	default:
		p.t.Fatalf("unknown input %q", words[0])
	}
}

func (p *player) ask(words []string) *request {
	r := &request{name: words[1]}
	p.asked[r] = words[0] + " " + words[1]
	return r
}

func (p *player) supervisor(words []string) Spec {
	spec := Spec{Name: "s"}
	for _, word := range words {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "intensity":
			n, err := strconv.Atoi(value)
			if err != nil {
				p.t.Fatal(err)
			}
			if spec.Intensity = n; n == 0 {
				spec.Intensity = NoRestarts
			}
		case "period":
			spec.Period = p.duration(value)
		case "one-for-all":
			spec.Strategy = OneForAll
		case "rest-for-one":
			spec.Strategy = RestForOne
		case "any-significant":
			spec.AutoShutdown = AnySignificant
		case "all-significant":
			spec.AutoShutdown = AllSignificant
		case "one-for-one":
		default:
			p.t.Fatalf("unknown word %q", word)
		}
	}
	return spec
}

func (p *player) child(words []string) ChildSpec {
	spec := ChildSpec{Name: words[0], New: newObedient}
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "transient":
			spec.Restart = Transient
		case "temporary":
			spec.Restart = Temporary
		case "significant":
			spec.Significant = true
		case "nested":
			spec.New, spec.Supervisor = nil, &Spec{}
		case "shutdown":
			spec.Shutdown = p.duration(value)
		default:
			p.t.Fatalf("unknown word %q", word)
		}
	}
	return spec
}

func (p *player) duration(s string) time.Duration {
	switch s {
	case "infinity":
		return Infinity
	case "brutal":
		return Brutal
	}
	return transcript.Duration(p.t, s)
}

// reasonOf is normal, shutdown, or an error with these words.
func reasonOf(words []string) error {
	switch text := strings.Join(words, " "); text {
	case "", "normal":
		return nil
	case "shutdown":
		return ErrShutdown
	default:
		return errors.New(text)
	}
}

// text is an action as a line of a transcript.
func (p *player) text(a action) string {
	switch a.do {
	case doSpawn:
		return "spawn " + a.kid.spec.Name
	case doStop:
		if a.after == Infinity {
			return "stop " + a.kid.spec.Name
		}
		return fmt.Sprintf("stop %s within %v", a.kid.spec.Name, a.after)
	case doArm:
		return fmt.Sprintf("timer %s %v", a.kid.spec.Name, a.after)
	case doDisarm:
		return "no timer " + a.kid.spec.Name
	case doKill:
		return "kill " + a.kid.spec.Name
	case doEmit:
		return "event: " + a.event.String()
	case doReply:
		what := p.asked[a.asked]
		delete(p.asked, a.asked)
		if a.reason == nil {
			return "answer " + what + ": done"
		}
		return fmt.Sprintf("answer %s: %v", what, a.reason)
	case doReady:
		return "tell parent: ready"
	case doLeave:
		return "leave: " + reasonText(a.reason)
	case doFinish:
		return "finish"
	}
	return "unknown action"
}

func (p *player) table() {
	for _, k := range p.core.all() {
		fmt.Fprintf(p.out, "  | %-8s %s, restarts %d\n", k.spec.Name, k.phase, k.restarts)
	}
}
