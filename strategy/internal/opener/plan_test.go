package opener

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/slap-go/slap/internal/transcript"
	"github.com/slap-go/slap/strategy"
)

// TestTranscripts plays the inputs of each file in testdata to a plan and compares
// what it does, the indented lines, with the file. LOC-1 to LOC-3, LOC-6 and LOC-7 are the files' names.
func TestTranscripts(t *testing.T) {
	transcript.Test(t, func(t *testing.T, out *strings.Builder) func([]string) {
		t.Helper()
		p := &player{t: t, now: epoch, out: out}
		return func(words []string) {
			p.input(words)
			p.next()
		}
	})
}

var epoch = time.Unix(1_700_000_000, 0)

func noJitter(int64) int64 { return 0 }

func fullJitter(n int64) int64 { return n }

// player is a plan and its clock.
type player struct {
	t    *testing.T
	plan *plan
	now  time.Time
	all  bool
	out  *strings.Builder
}

func (p *player) input(words []string) {
	switch words[0] {
	case "shards":
		p.begin(words[1:])
	case "after":
		p.now = p.now.Add(p.duration(words[1]))
	case "opened", "failed", "there", "halted":
		r := map[string]result{"opened": opened, "failed": failed, "there": there, "halted": stopped}[words[0]]
		p.each(words[1], func(n int) { p.plan.attempted(n, r, p.now) })
	case "down", "stopped":
		p.each(words[1], func(n int) { p.plan.down(n, words[0] == "stopped", p.now) })
	default:
		p.t.Fatalf("input %q", words)
	}
}

// begin makes the plan: shards 0-3 limit=2 base=1s max=1m jitter=full.
func (p *player) begin(words []string) {
	pace, err := Pace{}.withDefaults()
	if err != nil {
		p.t.Fatal(err)
	}
	jitter := noJitter
	for _, word := range words[1:] {
		switch key, value, _ := strings.Cut(word, "="); key {
		case "limit":
			pace.MaxConcurrency, err = strconv.Atoi(value)
		case "base":
			pace.BackoffBase = p.duration(value)
		case "max":
			pace.BackoffMax = p.duration(value)
		case "jitter":
			jitter = fullJitter
		default:
			p.t.Fatalf("option %q", word)
		}
		if err != nil {
			p.t.Fatal(err)
		}
	}
	p.plan, p.now, p.all = newPlan(p.shards(words[0]), pace, jitter), epoch, false
}

// next writes what is to be done, as the actor does after each input.
func (p *player) next() {
	open, wake := p.plan.next(p.now)
	if len(open) > 0 {
		fmt.Fprintf(p.out, "  open %v\n", strategy.Shards(open))
	}
	if wake > 0 {
		fmt.Fprintf(p.out, "  wake in %v\n", wake)
	}
	if !p.all && p.plan.attemptedAll() {
		p.all = true
		p.out.WriteString("  ready\n")
	}
}

func (p *player) each(text string, f func(n int)) {
	for _, n := range p.shards(text) {
		f(n)
	}
}

func (p *player) shards(text string) (s strategy.Shards) {
	if err := s.UnmarshalText([]byte(text)); err != nil {
		p.t.Fatal(err)
	}
	return s
}

func (p *player) duration(text string) time.Duration { return transcript.Duration(p.t, text) }

func TestLOC1_AtMostMaxConcurrencyOpenAtATimeAndAllAreAttempted(t *testing.T) {
	pace, err := Pace{}.withDefaults()
	if err != nil || pace.MaxConcurrency != 16 {
		t.Fatalf("pace %+v, %v", pace, err)
	}
	p := newPlan(strategy.Range(0, 39), pace, noJitter)
	seen := map[int]bool{}
	opening, _ := p.next(epoch)
	for len(opening) > 0 {
		if len(opening) > 16 || p.attemptedAll() {
			t.Fatalf("%d open at a time; all attempted: %v", len(opening), p.attemptedAll())
		}
		n := opening[0]
		if seen[n] {
			t.Fatalf("shard %d opened twice", n)
		}
		seen[n] = true
		p.attempted(n, result(n%4), epoch) // a failure keeps no other from being attempted
		more, _ := p.next(epoch)
		opening = append(opening[1:], more...)
	}
	if len(seen) != 40 || !p.attemptedAll() {
		t.Fatalf("%d of 40 attempted, all: %v", len(seen), p.attemptedAll())
	}
}

func TestLOC2_TheRetryDelayDoublesUpToItsMaximumPlusAQuarter(t *testing.T) {
	for _, c := range []struct {
		jitter func(int64) int64
		want   string
	}{
		{noJitter, "[1s 2s 4s 8s 16s 32s 1m0s 1m0s]"},
		{fullJitter, "[1.25s 2.5s 5s 10s 20s 40s 1m15s 1m15s]"},
	} {
		pace, err := Pace{}.withDefaults()
		if err != nil {
			t.Fatal(err)
		}
		if delays := fmt.Sprint(delays(t, pace, c.jitter, 8)); delays != c.want {
			t.Errorf("delays %v, want %s", delays, c.want)
		}
	}
}

func TestLOC2_AnEndlessRowOfFailuresStaysAtTheMaximum(t *testing.T) {
	for _, pace := range []Pace{
		{BackoffBase: time.Second, BackoffMax: time.Minute, MaxConcurrency: 1},
		{BackoffBase: 1, BackoffMax: longestBackoff, MaxConcurrency: 1},
		{BackoffBase: longestBackoff, BackoffMax: longestBackoff, MaxConcurrency: 1},
		{BackoffBase: longestBackoff/2 + 1, BackoffMax: longestBackoff, MaxConcurrency: 1},
	} {
		last := time.Duration(0)
		for i, d := range delays(t, pace, fullJitter, 200) {
			if d < last || d > pace.BackoffMax+pace.BackoffMax/4+1 {
				t.Fatalf("%+v: delay %d is %v after %v", pace, i, d, last)
			}
			last = d
		}
	}
}

// delays are the pauses between failures in a row.
func delays(t *testing.T, pace Pace, jitter func(int64) int64, count int) (all []time.Duration) {
	t.Helper()
	p := newPlan([]int{7}, pace, jitter)
	now := epoch
	for range count {
		if open, _ := p.next(now); !slices.Equal(open, []int{7}) {
			t.Fatalf("opened %v at %v", open, now.Sub(epoch))
		}
		p.attempted(7, failed, now)
		open, wake := p.next(now)
		if len(open) > 0 {
			t.Fatal("opened without waiting")
		}
		all = append(all, wake)
		now = now.Add(wake)
	}
	return all
}

func TestLOC3_AShardThatWasUpForTheMaximumBeginsAnew(t *testing.T) {
	for up, want := range map[time.Duration]time.Duration{59 * time.Second: 4 * time.Second, time.Minute: time.Second} {
		pace, err := Pace{}.withDefaults()
		if err != nil {
			t.Fatal(err)
		}
		p := newPlan([]int{0}, pace, noJitter)
		now := epoch
		for range 2 {
			p.next(now)
			p.attempted(0, failed, now)
			now = now.Add(time.Minute)
		}
		p.next(now)
		p.attempted(0, opened, now)
		p.down(0, false, now.Add(up))
		if _, wake := p.next(now.Add(up)); wake != want {
			t.Errorf("up for %v: reopened after %v, want %v", up, wake, want)
		}
	}
}

func TestLOC8_BadPacesNameTheirFields(t *testing.T) {
	for _, c := range []struct {
		pace  Pace
		names []string
	}{
		{Pace{BackoffBase: -1}, []string{"BackoffBase", "-1ns"}},
		{Pace{BackoffMax: -time.Second}, []string{"BackoffMax", "-1s"}},
		{Pace{BackoffMax: 1<<63 - 1}, []string{"BackoffMax", "8760h0m0s"}},
		{Pace{MaxConcurrency: -2}, []string{"MaxConcurrency", "-2"}},
		{Pace{BackoffBase: time.Hour}, []string{"BackoffBase", "1h0m0s", "BackoffMax", "1m0s"}},
		{Pace{BackoffMax: time.Millisecond}, []string{"BackoffBase", "1s", "BackoffMax", "1ms"}},
	} {
		_, err := New("some", c.pace)
		if err == nil {
			t.Errorf("%+v is taken", c.pace)
			continue
		}
		for _, word := range append(c.names, "some strategy: ") {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("%+v: %q does not say %q", c.pace, err, word)
			}
		}
	}
}

// A plan takes its shards one by one without looking at all of them each time.
func TestAPlanIsFastWithManyShards(t *testing.T) {
	last := 99_999
	if os.Getenv("SLAP_STRESS") == "1" {
		last = 999_999 // the largest cluster
	}
	p := newPlan(strategy.Range(0, last), Pace{BackoffBase: time.Second, BackoffMax: time.Minute, MaxConcurrency: 16}, noJitter)
	began := time.Now()
	opening, _ := p.next(epoch)
	for len(opening) > 0 {
		p.attempted(opening[0], opened, epoch)
		more, _ := p.next(epoch)
		opening = append(opening[1:], more...)
	}
	if took := time.Since(began); !p.attemptedAll() || took > time.Minute {
		t.Errorf("all: %v, after %v", p.attemptedAll(), took)
	}
}
