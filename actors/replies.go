package actors

import (
	"sync/atomic"

	"github.com/asynkron/protoactor-go/actor"
)

// replies is the process that the answers of children come to. One serves all
// requests of a node: the sender of a message is its PID with the request's
// number in it.
type replies struct {
	system *actor.ActorSystem
	id     string
	last   atomic.Uint32
	open   openRequests
}

// newReplies registers the process under the id, which no other run of a node may have: its
// late answers would find requests with the same number here.
func newReplies(system *actor.ActorSystem, id string) *replies {
	r := &replies{system: system, id: id}
	system.ProcessRegistry.Add(r, id)
	return r
}

// close takes the process from the registry. Answers that come later are dead letters.
func (r *replies) close() { r.system.ProcessRegistry.Remove(r.system.NewLocalPID(r.id)) }

// add gives the request a number that no other open request has.
func (r *replies) add(req *request) {
	for tries := 0; ; tries++ {
		req.id = r.last.Add(1)
		if req.id != 0 && r.open.add(req, tries) {
			return
		}
	}
}

// remove forgets the request; its answer would be a dead letter.
func (r *replies) remove(req *request) { r.open.remove(req) }

// sender is the PID that leads answers to the request.
func (r *replies) sender(req *request) *actor.PID {
	req.sender.Address, req.sender.Id, req.sender.RequestId = r.system.ProcessRegistry.Address, r.id, req.id
	return &req.sender
}

// find is the request that a sender stands for; nil if it is none of ours, or settled.
func (r *replies) find(sender *actor.PID) *request {
	if sender == nil || sender.GetId() != r.id || sender.GetAddress() != r.system.ProcessRegistry.Address {
		return nil
	}
	return r.open.find(sender.GetRequestId())
}

// SendUserMessage settles the request with what the child answered.
func (r *replies) SendUserMessage(pid *actor.PID, message any) {
	if req := r.find(pid); req != nil {
		req.respond(actor.UnwrapEnvelopeMessage(message), false)
	}
}

// SendSystemMessage ignores what the actor system says to a process without a life.
func (r *replies) SendSystemMessage(*actor.PID, any) {}

// Stop ignores a stop: only the node ends the process.
func (r *replies) Stop(*actor.PID) {}
