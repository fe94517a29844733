package lease

import (
	"time"

	"github.com/slap-go/slap/strategy"
)

// view is what this node has seen of a record. Wall clocks are not compared between
// nodes: a version that does not change for as long as its writer said is expired.
type view struct {
	version Version
	since   strategy.Instant // the reply that first showed the version
	known   bool             // something was seen, if only that there is none
	ever    bool             // the record was there
	changed bool             // since the first that was seen
}

// see takes in a version that a reply at an instant shows. It says whether it is new.
func (v *view) see(version Version, at strategy.Instant) bool {
	if v.known && v.version == version {
		return false
	}
	if v.known {
		v.changed = true
	}
	v.known, v.version, v.since = true, version, at
	v.ever = v.ever || version != ""
	return true
}

// lasted says whether the version has been unchanged for ttl.
func (v *view) lasted(ttl time.Duration, now strategy.Instant) bool {
	return v.known && now.Sub(v.since) >= ttl
}
