package lease

import (
	"reflect"
	"testing"
	"time"
)

// A copy of an explored node behaves as the node does, and shares nothing with it that either changes.
func TestTheExplorationCopiesNodesWhole(t *testing.T) {
	e := explorations[0]
	s := e.begin()
	for range 6 {
		s.calm()
		s.tick(-1, 0)
	}
	n := s.nodes[0]
	if n.first().held == nil || len(n.queue.jobs) == 0 || len(n.core.peers) == 0 && !e.alone {
		t.Fatal("there is nothing to copy")
	}
	n.first().doubtful = []write{{nonce: "x", sent: 1}}
	n.first().sent, n.core.own.sent = &write{nonce: "y"}, &sentBeat{"z", 1}
	n.first().lister = &peer{ttl: time.Second}
	n.core.peers["q"] = n.first().lister
	c := n.clone()
	if !reflect.DeepEqual(n.core, c.core) || !reflect.DeepEqual(n.queue, c.queue) {
		t.Error("the copy is not the same")
	}
	if c.core.peers["q"] != c.first().lister {
		t.Error("the lister is none of the copy's peers")
	}
	shared := pointers(reflect.ValueOf(n.core), pointers(reflect.ValueOf(n.queue), map[uintptr]bool{}))
	for p := range pointers(reflect.ValueOf(c.core), pointers(reflect.ValueOf(c.queue), map[uintptr]bool{})) {
		if shared[p] {
			t.Error("the copy shares a pointer, a map or a slice")
		}
	}
}

// pointers are those that can be reached. Lists of shards in heartbeats are never changed.
func pointers(v reflect.Value, seen map[uintptr]bool) map[uintptr]bool {
	switch v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice:
		if v.IsNil() || v.Type() == reflect.TypeFor[[]Held]() || v.Type() == reflect.TypeFor[*time.Location]() || seen[v.Pointer()] {
			return seen
		}
		if v.Kind() != reflect.Slice || v.Len() > 0 {
			seen[v.Pointer()] = true
		}
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		pointers(v.Elem(), seen)
	case reflect.Struct:
		for i := range v.NumField() {
			pointers(v.Field(i), seen)
		}
	case reflect.Slice:
		for i := range v.Len() {
			pointers(v.Index(i), seen)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			pointers(v.MapIndex(key), seen)
		}
	}
	return seen
}
