package store

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"regexp"
	"time"

	"github.com/slap-go/slap/internal/clock"
)

// ProbeTimeout is how long one try of a node's first steps in a store, [Identify]
// and [Probe] together, may take. The caller bounds its context with it.
const ProbeTimeout = 8 * time.Second

// The steps of a probe, in their order.
const (
	StepCreate      = "create"           // an object is created if it is absent
	StepCreateAgain = "create_again"     // and once more, which must be refused
	StepStaleMatch  = "stale_if_match"   // it is updated with a version that it does not have: must be refused
	StepMatch       = "current_if_match" // it is updated with its version
	StepDelete      = "delete"           // it is deleted
)

// staleVersion is a version that no store ever gives.
const staleVersion Version = "slatedb-probe-stale-etag"

// Result is how a step of a probe ended. Only [Failed] makes a store unfit.
type Result string

// The results of a step.
const (
	Passed      Result = "ok"
	Unsupported Result = "unsupported" // the bucket says that it cannot: errors.ErrUnsupported
	Failed      Result = "failed"
	Skipped     Result = "skipped" // an earlier step makes it meaningless
)

// Step is one step of a probe as it went.
type Step struct {
	Name   string
	Result Result
	Err    error // why it failed or is unsupported
	Took   time.Duration
}

// Report is what a probe found.
type Report struct {
	Key   string // of the object that the probe wrote
	Steps []Step // all five, in their order
}

// OK tells whether the store is fit.
func (r Report) OK() bool { return r.Err() == nil }

// Err is nil for a fit store, else a [*ProbeError].
func (r Report) Err() error {
	for _, s := range r.Steps {
		if s.Result == Failed {
			return &ProbeError{Report: r, Step: s}
		}
	}
	return nil
}

// ProbeError says that a store failed its probe: it is unfit, or cannot be reached.
type ProbeError struct {
	Report Report
	Step   Step // the first one that failed
}

// Error names the step and what the store did.
func (e *ProbeError) Error() string {
	return fmt.Sprintf("the store failed its probe at %s: %v", e.Step.Name, e.Step.Err)
}

// Unwrap is the error of the step.
func (e *ProbeError) Unwrap() error { return e.Step.Err }

// ProbeConfig says where a probe writes.
type ProbeConfig struct {
	Path   string    // where the cluster lives in the store; may be empty
	Node   string    // the node's name
	Random io.Reader // makes the object's key; default: crypto/rand.Reader
}

var notInProbeKey = regexp.MustCompile(`[^A-Za-z0-9_.@-]`)

// probeKey is <path>/_cluster/probe/<node>/<12 random bytes>.
func probeKey(c ProbeConfig) (string, error) {
	random := make([]byte, 12)
	if err := readRandom(c.Random, random); err != nil {
		return "", err
	}
	node := notInProbeKey.ReplaceAllString(c.Node, "_")
	return JoinKey(c.Path, "_cluster/probe", node, base64.RawURLEncoding.EncodeToString(random)), nil
}

// Probe checks that the store honours the conditions of writes, with an object of
// its own that it deletes. It is bounded by ctx; see [ProbeTimeout]. A write
// whose reply was lost is read back.
func Probe(ctx context.Context, b Bucket, c ProbeConfig) Report {
	key, err := probeKey(c)
	p := &probe{bucket: b, report: Report{Key: key}}
	if err != nil {
		p.run(StepCreate, func() error { return err })
	} else {
		p.run(StepCreate, func() error { return p.create(ctx) })
	}
	created := p.last() == Passed
	p.runIf(created, StepCreateAgain, func() error { return p.createAgain(ctx) })
	p.runIf(created, StepStaleMatch, func() error { return p.matchStale(ctx) })
	switch p.last() {
	case Unsupported:
		p.add(Step{Name: StepMatch, Result: Unsupported, Err: errors.ErrUnsupported})
	default:
		p.runIf(p.last() == Passed, StepMatch, func() error { return p.match(ctx) })
	}
	p.runIf(p.written, StepDelete, func() error { return p.delete(ctx) })
	return p.report
}

// probe is a probe on its way.
type probe struct {
	bucket  Bucket
	version Version // the object's, as far as known
	written bool    // the object may exist
	report  Report
}

func (p *probe) add(s Step) { p.report.Steps = append(p.report.Steps, s) }

func (p *probe) last() Result { return p.report.Steps[len(p.report.Steps)-1].Result }

func (p *probe) run(name string, step func() error) {
	start := clock.Now()
	err := step()
	s := Step{Name: name, Result: Passed, Err: err, Took: clock.Since(start)}
	switch {
	case errors.Is(err, errors.ErrUnsupported) && (name == StepStaleMatch || name == StepMatch):
		s.Result = Unsupported
	case err != nil:
		s.Result = Failed
	}
	p.add(s)
}

func (p *probe) runIf(sensible bool, name string, step func() error) {
	if sensible {
		p.run(name, step)
	} else {
		p.add(Step{Name: name, Result: Skipped})
	}
}

// put writes a body and tells whether that was done. A lost reply is resolved by
// reading back.
func (p *probe) put(ctx context.Context, body string, c Condition) (bool, error) {
	v, err := p.bucket.Put(ctx, p.report.Key, []byte(body), c)
	switch {
	case err == nil:
		p.version, p.written = v, true
		return true, nil
	case errors.Is(err, ErrConflict):
		return false, nil
	case !errors.Is(err, ErrUnknownOutcome):
		return false, err
	}
	p.written = true
	o, readErr := p.bucket.Get(ctx, p.report.Key)
	switch {
	case errors.Is(readErr, ErrNotFound):
		return false, err
	case readErr != nil:
		return false, fmt.Errorf("%w; reading it back failed: %w", err, readErr)
	}
	p.version = o.Version
	return string(o.Data) == body, nil
}

func (p *probe) create(ctx context.Context) error {
	done, err := p.put(ctx, "create", IfAbsent())
	switch {
	case err != nil:
		return fmt.Errorf("the store could not create an object: %w", err)
	case !done:
		return errors.New("the store refused a create-if-absent of a key that was never used")
	}
	return nil
}

func (p *probe) createAgain(ctx context.Context) error {
	done, err := p.put(ctx, "create again", IfAbsent())
	switch {
	case err != nil:
		return fmt.Errorf("the store could not be asked to create an object that exists: %w", err)
	case done:
		return errors.New("the store overwrote an existing object on a create-if-absent: it ignores conditional writes")
	}
	return nil
}

func (p *probe) matchStale(ctx context.Context) error {
	done, err := p.put(ctx, "stale", IfMatch(staleVersion))
	switch {
	case err != nil:
		return fmt.Errorf("the store could not be asked for an update with a stale version: %w", err)
	case done:
		return errors.New("the store accepted an update with a stale version: it ignores the condition If-Match")
	}
	return nil
}

func (p *probe) match(ctx context.Context) error {
	done, err := p.put(ctx, "current", IfMatch(p.version))
	switch {
	case err != nil:
		return fmt.Errorf("the store could not update an object: %w", err)
	case !done:
		return errors.New("the store refused an update with the current version")
	}
	return nil
}

func (p *probe) delete(ctx context.Context) error {
	if err := p.bucket.Delete(ctx, p.report.Key); err != nil {
		return fmt.Errorf("the store could not delete an object: %w", err)
	}
	return nil
}
