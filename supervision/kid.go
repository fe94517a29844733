package supervision

import "time"

// phase is what a child does, as its supervisor knows it.
type phase int

const (
	idle     phase = iota // does not run
	starting              // spawned, not ready yet
	running               // ready
	leaving               // ends by itself
	stopping              // was told to stop
)

// String is the phase in lower case.
func (p phase) String() string {
	return nameOf(p, "idle", "starting", "running", "leaving", "stopping")
}

// want is what its supervisor wants of a child.
type want int

const (
	up    want = iota // runs; when idle it is to be started
	cycle             // goes down with its group, then up again
	rest              // has ended for good but keeps its place: a group's restart starts it again
	gone              // leaves the table once it is idle
)

// A kid is a child's entry in its supervisor's table.
type kid struct {
	spec    *ChildSpec // as given
	dynamic bool
	seq     uint64 // order of entry
	phase   phase
	want    want

	ready    bool // in this incarnation
	begun    bool // was ready in any incarnation
	ordered  bool // waits for its turn in a start of several children
	grouped  bool // goes down with others, and they wait for it
	restarts int
	shutdown time.Duration // of the spec, with its default
	bound    time.Duration // of its end, as last armed

	starter  *request   // waits until it is ready
	stoppers []*request // wait until it is gone
	lost     []string

	run *child // the shell's, nil while idle
}

// alive tells whether the child runs and has not begun to end.
func (k *kid) alive() bool { return k.phase == starting || k.phase == running }

// again tells whether the child is to be restarted after it ended by itself.
func (k *kid) again(reason error) bool {
	switch k.spec.Restart {
	case Temporary:
		return false
	case Transient:
		return !k.ready || IsCrash(reason)
	case Permanent:
	}
	return true
}
