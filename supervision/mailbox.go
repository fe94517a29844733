package supervision

import (
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/asynkron/protoactor-go/actor"
)

var (
	_ actor.Mailbox        = (*mailbox)(nil)
	_ actor.MessageInvoker = (*mailbox)(nil)
	_ actor.Dispatcher     = (*mailbox)(nil)
)

// A mailbox is a child's, around the one that its spec asks for. Proto.Actor registers an actor's name before it
// has set up its mailbox: what is sent to the name at that moment would come before Started or end the sender
// with a panic. Here it waits until the mailbox is open. What the owner posts to inner reaches this incarnation
// and no other, whoever has its name.
type mailbox struct {
	owner      *child
	inner      actor.Mailbox
	invoker    actor.MessageInvoker
	dispatcher actor.Dispatcher

	open     atomic.Bool
	mu       sync.Mutex
	early    []posted     // what came before it was open
	watchers []*actor.PID // to be told when the owner is abandoned
}

// A posted message waits for the mailbox to open.
type posted struct {
	msg    any
	system bool
}

// PostUserMessage queues a message.
func (m *mailbox) PostUserMessage(msg any) {
	if m.open.Load() || !m.wait(posted{msg: msg}) {
		m.inner.PostUserMessage(msg)
	}
}

// PostSystemMessage queues a message in front of all user messages.
func (m *mailbox) PostSystemMessage(msg any) {
	first := false
	switch msg := msg.(type) {
	case *actor.Started:
		first = true
	case *actor.Watch:
		m.watch(msg.GetWatcher())
	case *actor.Unwatch:
		m.unwatch(msg.GetWatcher())
	}
	if first || m.open.Load() || !m.wait(posted{msg: msg, system: true}) {
		m.inner.PostSystemMessage(msg)
	}
}

// wait keeps a message until the mailbox opens and tells whether it does: it may have opened meanwhile.
func (m *mailbox) wait(p posted) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.open.Load() {
		return false
	}
	m.early = append(m.early, p)
	return true
}

func (m *mailbox) watch(watcher *actor.PID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.watchers = append(m.watchers, watcher)
}

func (m *mailbox) unwatch(watcher *actor.PID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.watchers = slices.DeleteFunc(m.watchers, watcher.Equal)
}

// bury tells the watchers that this incarnation is gone, since its context will not.
func (m *mailbox) bury(system *actor.ActorSystem, pid *actor.PID) {
	m.mu.Lock()
	watchers := m.watchers
	m.watchers = nil
	m.mu.Unlock()
	for _, watcher := range watchers {
		process, _ := system.ProcessRegistry.Get(watcher)
		process.SendSystemMessage(watcher, &actor.Terminated{Who: pid})
	}
}

// RegisterHandlers sets the mailbox up.
func (m *mailbox) RegisterHandlers(invoker actor.MessageInvoker, dispatcher actor.Dispatcher) {
	m.owner.registered = true
	m.invoker, m.dispatcher = invoker, dispatcher
	m.inner.RegisterHandlers(m, m)
}

// Schedule runs the queue in a goroutine of its own that has the stack for most messages: one that grows below a
// message costs more than the way of the message. The start makes do with less, since many may start at once.
func (m *mailbox) Schedule(run func()) {
	if !m.open.Load() {
		m.dispatcher.Schedule(run)
		return
	}
	m.dispatcher.Schedule(func() {
		makeRoom(0)
		run()
	})
}

// Throughput is the dispatcher's.
func (m *mailbox) Throughput() int { return m.dispatcher.Throughput() }

// makeRoom lets the stack grow to 8 KiB: its frame is there when it is called.
//
//go:noinline
func makeRoom(i int) byte {
	var frame [4 << 10]byte
	return frame[i]
}

// Start opens the mailbox: Started is in it, and what came early follows.
func (m *mailbox) Start() {
	m.inner.Start()
	for early := m.takeEarly(); len(early) > 0; early = m.takeEarly() {
		for _, p := range early {
			if p.system {
				m.inner.PostSystemMessage(p.msg)
			} else {
				m.inner.PostUserMessage(p.msg)
			}
		}
	}
}

// takeEarly is what came since the last call; when that is nothing, the mailbox is open.
func (m *mailbox) takeEarly() []posted {
	m.mu.Lock()
	defer m.mu.Unlock()
	early := m.early
	m.early = nil
	m.open.Store(len(early) == 0)
	return early
}

// UserMessageCount is the number of queued messages.
func (m *mailbox) UserMessageCount() int { return m.inner.UserMessageCount() }

// InvokeSystemMessage passes a message to the actor's context. What the start of a child does around its Started
// is done here, and Started takes the context's shorter way, so that a small stack suffices.
func (m *mailbox) InvokeSystemMessage(msg any) {
	if _, ok := msg.(*actor.Started); !ok {
		m.invoker.InvokeSystemMessage(msg)
		return
	}
	m.owner.prepare()
	m.invoker.InvokeUserMessage(msg)
	m.owner.started()
}

// InvokeUserMessage passes a message to the actor's context.
func (m *mailbox) InvokeUserMessage(msg any) { m.invoker.InvokeUserMessage(msg) }

// EscalateFailure makes a panic the actor's crash. Proto.Actor would suspend whoever has its name and ask the
// parent.
func (m *mailbox) EscalateFailure(reason, _ any) {
	m.owner.crash(&PanicError{Value: reason, Stack: debug.Stack()})
}
