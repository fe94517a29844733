package tour

import (
	"context"
	"fmt"
	"strings"

	"github.com/slap-go/slap/cmd/demo/internal/client"
	"github.com/slap-go/slap/cmd/demo/internal/process"
)

// member is one node of the tour: its name and addresses, and the process that has them
// now.
type member struct {
	name, remote, http string
	options            process.Options
	client             *client.Client
	node               *process.Node // nil while none is meant to run
}

func newMembers(executable, url string) ([]*member, error) {
	var members []*member
	var peers []string
	for _, name := range []string{"a", "b", "c"} {
		m := &member{name: name}
		for _, address := range []*string{&m.remote, &m.http} {
			free, err := process.FreeAddress()
			if err != nil {
				return nil, err
			}
			*address = free
		}
		m.client = client.New(m.http, 1)
		members, peers = append(members, m), append(peers, name+"="+m.remote)
	}
	for _, m := range members {
		m.options = process.Options{Executable: executable, Arguments: []string{
			"--name", m.name, "--store", url, "--shards", fmt.Sprint(shards), "--peers", strings.Join(peers, ","),
			"--strategy", "object-lease", "--lease-ttl", ttl.String(), "--flush-interval", flushed.String(),
		}}
	}
	return members, nil
}

// start starts a process. It does not wait for it.
func (m *member) start() (err error) {
	m.node, err = process.StartAt(m.options, m.remote, m.http)
	return err
}

// kill ends the process without warning.
func (m *member) kill() {
	m.node.Kill()
	m.node = nil
}

// leave stops the process and expects that it is content.
func (m *member) leave(ctx context.Context) error {
	node := m.node
	m.node = nil
	status, err := node.Stop(ctx)
	if err == nil && status != 0 {
		err = fmt.Errorf("it left with status %d: %s", status, node.Output())
	}
	if err != nil {
		return fmt.Errorf("node %s: %w", m.name, err)
	}
	return nil
}

// check fails if the process ended by itself.
func (m *member) check() error {
	if m.node == nil || m.node.Err() == nil {
		return nil
	}
	return fmt.Errorf("node %s: %w", m.name, m.node.Err())
}

func (m *member) close() {
	if m.node != nil {
		m.node.Kill()
	}
	m.client.Close()
}
