package peers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
)

// scout asks a source and a resolver, and remembers what they said last.
type scout struct {
	options Options
	said    []Peer // by the function
	found   hosts
	failing map[string]bool // host names, and "" for the function
}

func newScout(o Options) *scout {
	return &scout{options: o, found: hosts{}, failing: map[string]bool{}}
}

// list is the peers as their source says.
func (s *scout) list(ctx context.Context) []Peer {
	if s.options.Source.find == nil {
		return s.options.Source.list
	}
	said, err := s.call(ctx)
	if err == nil {
		err = check(said)
	}
	if s.worked(ctx, "", err) {
		s.said = slices.Clone(said)
	}
	return s.said
}

// call calls the application's function, whose panic is an error.
func (s *scout) call(ctx context.Context) (said []Peer, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it panicked: %v", p)
		}
	}()
	return s.options.Source.find(ctx)
}

// hosts are the addresses of all host names that there are, asked for at the same time.
func (s *scout) hosts(ctx context.Context, list []Peer, asked []string) hosts {
	wanted := map[string]bool{hostOf(s.options.Self.Address): true}
	for _, p := range list {
		wanted[hostOf(p.Address)] = true
	}
	for _, address := range asked {
		wanted[hostOf(address)] = true
	}
	delete(wanted, "")
	fresh := hosts{}
	var all sync.WaitGroup
	var mu sync.Mutex
	for host := range wanted {
		all.Go(func() {
			ips, err := s.options.Lookup(ctx, "ip", host)
			mu.Lock()
			defer mu.Unlock()
			if !s.worked(ctx, host, err) {
				ips = s.found[host]
			}
			fresh[host] = ips
		})
	}
	all.Wait()
	s.found = fresh
	maps.DeleteFunc(s.failing, func(host string, _ bool) bool { return host != "" && !wanted[host] })
	return fresh
}

// worked says whether a look worked, and tells the log of a change.
func (s *scout) worked(ctx context.Context, what string, err error) bool {
	before := s.failing[what]
	s.failing[what] = err != nil
	name := what
	if what == "" {
		name = "the function of Peers"
	}
	switch {
	case err != nil && errors.Is(context.Cause(ctx), context.Canceled): // the end of the book is no failure
	case err != nil && !before:
		s.options.Logger.Warn("peers cannot be looked up: what is known of them holds", "name", name, "error", err)
	case err == nil && before:
		s.options.Logger.Info("peers can be looked up again", "name", name)
	}
	return err == nil
}
