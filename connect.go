package slap

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/remote"
	"golang.org/x/sync/errgroup"

	"github.com/slap-go/slap/actors"
	"github.com/slap-go/slap/actors/links"
	"github.com/slap-go/slap/internal/clock"
	"github.com/slap-go/slap/messages"
	"github.com/slap-go/slap/peers"
	"github.com/slap-go/slap/strategy"
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
	r.meet(l, c.Cluster, c.Peers.List(), c.Logger)
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

// maxMeetings is how many peers are greeted at a time.
const maxMeetings = 16

// meet greets the peers that are known beforehand, beside the start, and logs who cannot be
// one: nodes with different stores would each serve all shards and never call each other.
func (r *run) meet(l *links.Links, cluster string, list []peers.Peer, log *slog.Logger) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		var meetings errgroup.Group
		meetings.SetLimit(maxMeetings)
		for _, p := range list {
			meetings.Go(func() error {
				who, err := l.Greet(ctx, p.Address)
				if wrong := misfit(p, who, err); wrong != "" {
					log.Error(wrong, "cluster", cluster)
				}
				return nil
			})
		}
		_ = meetings.Wait()
	}()
	r.release = append(r.release, func(context.Context) error { cancel(); <-done; return nil })
}

// misfit says why a peer that answers cannot be one.
func misfit(p peers.Peer, who strategy.Node, err error) string {
	switch {
	case errors.Is(err, links.ErrRefused):
		return fmt.Sprintf("peer %s: %v", p, err)
	case err == nil && p.Name != "" && p.Name != who.Name:
		return fmt.Sprintf("peer %s is node %s: correct Peers, or its Name", p, who.Name)
	}
	return ""
}
