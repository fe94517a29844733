package slap

import (
	"context"
	"fmt"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/remote"

	"github.com/slap-go/slap/actors"
	"github.com/slap-go/slap/actors/links"
	"github.com/slap-go/slap/internal/clock"
	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/peers"
)

// dialSelfTime is how long a start tries to reach its own node as others will.
const dialSelfTime = 5 * time.Second

// RemoteOptions are what an application that hands in its System starts the Proto.Actor
// remote of that with, before [Cluster.Start]:
//
//	remote.NewRemote(system, remote.Configure(host, port, cfg.RemoteOptions()...)).Start()
//
// They are for one remote, carry the TLS of the configuration, and are required with a
// strategy of several nodes. Other server and dial options must not be given beside them.
func (c *Config) RemoteOptions() []remote.ConfigOption { return links.RemoteOptions(c.TLS) }

// connect begins to listen for the other nodes, if there may be any, and proves that this
// node is reached where it says.
func (r *run) connect(ctx context.Context, c *Config, system *actor.ActorSystem, config *actors.Config) error {
	several, _, err := c.others()
	if err != nil || !several {
		return err
	}
	self := peers.Peer{Name: c.Name, Address: or(c.Advertise, system.Address())}
	book := peers.Open(peers.Options{Self: self, Source: c.Peers, TrustLeases: c.TrustLeases, Logger: c.Logger})
	r.release = append(r.release, book.Close)
	l, err := links.Start(links.Config{
		Cluster: c.clusterID, Node: c.Name, Incarnation: config.Incarnation, Tree: actors.TreeName(c.Cluster),
		System: system, Listen: c.Listen, Advertise: c.Advertise, TLS: c.TLS, Peers: book,
		Logger: c.Logger, Publish: config.Events.Publish,
		Origin: func() messages.Origin { return messages.Origin{Cluster: c.Cluster, Time: clock.Now()} },
	})
	if err != nil {
		return fmt.Errorf("slap: %w", err)
	}
	r.release = append(r.release, l.Close)
	config.Links = l
	dial, cancel := context.WithTimeout(ctx, dialSelfTime)
	defer cancel()
	if err := l.DialSelf(dial); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return fmt.Errorf("slap: %w", err)
	}
	return nil
}
