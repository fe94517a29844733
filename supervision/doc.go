// Package supervision has supervisors in the way of Erlang's OTP, for the actors of Proto.Actor.
//
// A supervisor starts its children in order, each after the one before is ready, restarts those that end as its
// strategy and their specs say, and stops them in reverse, one at a time, each within its own time. When it would
// have to restart once too often it ends itself, and its parent supervisor decides; at the top the owner of the
// [Tree] learns why. Supervisors are children like others, so they form trees.
//
//	tree, err := supervision.Start(ctx, system, supervision.Spec{
//		Strategy: supervision.RestForOne,
//		Children: []supervision.ChildSpec{
//			{Name: "connection", New: newConnection, Ready: supervision.Manual},
//			{Name: "sessions", Supervisor: &supervision.Spec{}}, // dynamic children only
//		},
//	})
//
// # The life of a child
//
//	          spawn            ready (Started returned, or Ready)
//	idle ──────────▶ starting ───────────────▶ running
//	 ▲                 │   │                     │   │
//	 │      Fail,      │   │ told to stop        │   │ panic, Exit, Stop of itself
//	 │      Exit,      │   ▼                     │   ▼
//	 │      panic      │  stopping ◀─────────────┘  leaving
//	 │                 │   │                         │
//	 │                 ▼   │ Stopped returned        │
//	 └──────────────── down ◀────────────────────────┘
//	                     ▲
//	                     └─ its time is over: abandoned
//
// Stopping and Stopped come to each actor that was started, also after a crash, so that it can release what it
// holds; a crashed actor sees nothing else any more. Messages that are queued when an actor ends are lost with it.
//
// # Restarts
//
//	           normal exit │ shutdown │ crash   │ stopped with its group
//	Permanent  restart     │ restart  │ restart │ starts again
//	Transient  rest        │ rest     │ restart │ starts again, also when it was at rest
//	Temporary  forget      │ forget   │ forget  │ forget
//
// A normal exit is [Exit] with nil, or an actor that stops itself; a shutdown is an error that is [ErrShutdown];
// anything else is a crash, and so is a panic in any callback: Started, a message, Stopping, Stopped,
// ReceiveTimeout, and in the middleware and decorators given in Props. Reasons are errors and pass upwards in
// the chain: errors.Is finds a child's reason in that of its supervisor's end. [IsCrash] tells the kinds apart.
//
// A restart makes a new actor: New is called, the PID stays. A start that fails the first time fails the
// supervisor's start, after what was started has stopped; a restart that fails counts as a further restart.
//
// Dynamic children ([Ref.StartChild], or the message [StartChild] from an actor) come after the static ones, as one
// group: they start and stop side by side. One that ends for good is forgotten. They take part in
// [OneForAll] and in the [RestForOne] of a static child.
//
// # What hangs
//
// A child that does not stop in its time is abandoned: its context ([Context]) ends, its name is free, its
// supervisor goes on, and the event, [StopChildResult] and [Tree.Stop] name it. Its goroutine is left behind,
// because Go cannot end it; when the callback that it hangs in returns, the actor sees Stopping and Stopped and is
// gone, without harm to its successor. Its watchers are told Terminated at once. A supervisor whose time is over abandons all of its
// children instead. A child that ends by itself has its time, too.
//
// A hang in a message is not noticed before the child is to stop; nor is a callback that ends its goroutine
// with runtime.Goexit.
//
// # What of Proto.Actor does not get through
//
//   - A stopping actor tells all of its children to stop at once and waits for ever for one that hangs. A supervisor
//     keeps its own table, in order, and Proto.Actor knows of none of its children.
//   - A panic in Stopping revives an actor, one in Stopped leaves its parent waiting, one outside of a
//     callback suspends whoever has the name. Each is a crash.
//   - A name is registered before its mailbox works: a message at that moment ends the sender, or comes
//     before Started. Such messages wait.
//   - Terminated tells no reason, comes twice to a parent that watches, and overtakes what was sent before. Reasons
//     come with the exit, once, and overtake a flood of requests.
//   - Failures are counted for each child, one that fails too often is dropped in silence, and an escalation at the
//     top ends the process. The limit is the supervisor's, and what comes of it is an error.
//   - Spawning under a taken name makes the actor all the same. New is not called.
//   - An actor that is abandoned and comes back would take its successor's name away, stop it or suspend it. It
//     reaches only itself: ctx.Stop(ctx.Self()) and [Exit] are safe. Not so a message to its own PID, and a
//     continuation of ReenterAfter, which are delivered to the name.
//
// # What is decided where
//
// The decisions are a state machine without goroutines, clocks and actors; the transcripts in testdata show what
// it does. Everything else reports to it what happens and does what it says.
package supervision
