// Package journal keeps the newest events of a node, for people and for the tour.
package journal

import (
	"iter"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/slap-go/slap"
	"github.com/slap-go/slap/messages"
)

// size is how many events are kept.
const size = 200

// Entry is one event as a node shows it; the JSON of GET /events is a list of them.
type Entry struct {
	Time    time.Time         `json:"time"`
	Name    string            `json:"name"`
	Level   string            `json:"level"`
	Text    string            `json:"text"`
	Details map[string]string `json:"details"` // such as shard
}

// Journal is what has happened on a node lately. Its zero value is empty. It is safe for
// concurrent use.
type Journal struct {
	mu      sync.Mutex
	entries []Entry // the oldest first
}

// Follow keeps events until there are no more of them.
func (j *Journal) Follow(events iter.Seq[slap.Event]) {
	for e := range events {
		if notable(e) {
			j.keep(entry(e))
		}
	}
}

// notable leaves out what happens all the time.
func notable(e slap.Event) bool {
	switch e.(type) {
	case slap.DurabilityLag, messages.CallRemote, messages.CallNotOwner:
		return false
	case slap.SupervisorEvent:
		return e.Level() >= slog.LevelInfo
	}
	return true
}

func entry(e slap.Event) Entry {
	details := map[string]string{}
	for _, a := range e.Attrs() {
		details[a.Key] = a.Value.String()
	}
	return Entry{e.From().Time, e.Name(), e.Level().String(), e.String(), details}
}

func (j *Journal) keep(e Entry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.entries) == size {
		j.entries = slices.Delete(j.entries, 0, 1)
	}
	j.entries = append(j.entries, e)
}

// Entries are the newest events, the oldest of them first.
func (j *Journal) Entries() []Entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	return append([]Entry{}, j.entries...)
}
