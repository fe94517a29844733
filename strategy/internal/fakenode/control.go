package fakenode

import (
	"slices"

	"github.com/slap-go/slap/strategy"
)

// Script writes how the next starts of the shard end: with these errors, nil for
// success, then all with success. [strategy.ErrAlreadyStarted] means that somebody else
// opened it; an [ErrHold] ends with [Node.Release].
func (n *Node) Script(shard int, answers ...error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.slots[shard].script = slices.Clone(answers)
}

// Release ends the start that is held, with this error or success.
func (n *Node) Release(shard int, err error) { n.tell(release{shard, err}) }

// Down ends the shard and tells the strategy, which is done when the channel is closed.
func (n *Node) Down(shard int, reason strategy.DownReason) <-chan struct{} {
	told := make(chan struct{})
	n.tell(goDown{shard, reason, told})
	return told
}

// KillHost makes the host crash: everything starts over.
func (n *Node) KillHost() { n.tell(die{}) }

// KillStrategy makes the strategy's actor crash: everything starts over. Of a strategy that
// is a supervisor it is the last child.
func (n *Node) KillStrategy() { n.options.System.Root.Send(n.child, die{}) }

func (n *Node) tell(message any) { n.options.System.Root.Send(n.host, message) }

// Pause holds whoever calls StartShard or StopShard, until Resume.
func (n *Node) Pause() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.gate == nil {
		n.gate = make(chan struct{})
		n.caught = 0
	}
}

// Resume lets those go on who are held, and all later ones.
func (n *Node) Resume() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.gate != nil {
		close(n.gate)
		n.gate = nil
	}
}

// Caught is how many callers the pause holds or has held.
func (n *Node) Caught() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.caught
}

// Open says whether the shard is open.
func (n *Node) Open(shard int) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.slots[shard].state == open
}

// Starts is how often a start of the shard was asked for.
func (n *Node) Starts(shard int) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.slots[shard].starts
}

// Lives is how often the host, and with it the strategy, has started.
func (n *Node) Lives() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.lives
}

// Wrong is what the strategy did that no strategy may do.
func (n *Node) Wrong() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.wrong)
}
