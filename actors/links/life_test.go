package links

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/slap-go/slap/internal/transcript"
)

// TestTranscripts plays the inputs of each file in testdata to a life and compares what it
// does, the indented lines, with the file. P7.1 is in the files' names.
func TestTranscripts(t *testing.T) {
	transcript.Test(t, func(t *testing.T, out *strings.Builder) func([]string) {
		t.Helper()
		p := &player{t: t, now: time.Unix(1_700_000_000, 0), out: out}
		return p.input
	})
}

type player struct {
	t    *testing.T
	life life
	now  time.Time
	out  *strings.Builder
}

func (p *player) input(words []string) {
	has := func(word string) bool { return strings.Contains(strings.Join(words[1:], " "), word) }
	switch words[0] {
	case "after":
		p.now = p.now.Add(transcript.Duration(p.t, words[1]))
		p.tell(p.life.tick(p.now, has("heard"), has("busy")))
	case "need":
		p.tell(p.life.need(p.now))
	case "connected":
		p.tell(p.life.connected(p.now))
	case "failed":
		p.tell(p.life.failed(p.now))
	case "lost":
		p.tell(p.life.lost(p.now, has("orderly")))
	case "state":
		fmt.Fprintf(p.out, "  %s, missing=%v forgotten=%v\n",
			[]string{"down", "dialing", "up"}[p.life.phase], p.life.missing, p.life.forgotten(p.now))
	default:
		p.t.Fatalf("input %q", words)
	}
}

func (p *player) tell(deeds []deed) {
	names := []string{"", "dial", "ping", "hang up", "give up", "tell unreachable", "tell reachable"}
	for _, d := range deeds {
		fmt.Fprintf(p.out, "  %s\n", names[d])
	}
}
