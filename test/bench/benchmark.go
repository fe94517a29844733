package main

import (
	"context"
	"fmt"
	"runtime"
	"time"
)

// A measure is one run of one side. It gives a figure; the goal says whether more or
// less of it is better.
type measure func(ctx context.Context, d time.Duration) (float64, error)

// A benchmark has a name, a goal, and a peer to be compared with.
type benchmark struct {
	name string
	goal goal
	unit string
	ours measure
	peer measure // nil: the goal is about ours alone

	// roundsAtMost bounds the rounds of a benchmark whose rounds are long. Zero: no bound.
	roundsAtMost int

	note func() string // more to tell of both sides once they ran; nil: nothing
}

// plan says how much to measure.
type plan struct {
	rounds   int
	duration time.Duration // of one measurement
	say      func(format string, args ...any)
}

// run measures both sides in turn, so that what else the machine does in the
// meantime meets both.
func (b benchmark) run(ctx context.Context, p plan) (result, error) {
	rounds := p.rounds
	if b.roundsAtMost > 0 {
		rounds = min(rounds, b.roundsAtMost)
	}
	var ours, peer []float64
	for i := range rounds {
		p.say("%s: round %d of %d", b.name, i+1, rounds)
		mine, err := b.once(ctx, p, b.ours)
		if err != nil {
			return result{}, err
		}
		ours = append(ours, mine)
		if b.peer == nil {
			continue
		}
		theirs, err := b.once(ctx, p, b.peer)
		if err != nil {
			return result{}, fmt.Errorf("the peer: %w", err)
		}
		peer = append(peer, theirs)
	}
	return b.result(ours, peer), nil
}

// once measures one side on a heap without garbage.
func (b benchmark) once(ctx context.Context, p plan, m measure) (float64, error) {
	runtime.GC()
	return m(ctx, p.duration)
}

func (b benchmark) result(ours, peer []float64) result {
	r := result{name: b.name, goal: b.goal, unit: b.unit, ours: median(ours), peer: median(peer)}
	if b.peer == nil {
		r.rounds = ours
	} else {
		r.rounds = ratios(ours, peer)
	}
	r.figure = median(r.rounds)
	if b.note != nil {
		r.note = b.note()
	}
	return r
}
