package actors

import (
	"math/rand/v2"
	"sync"
	"testing"
)

// TestOpenRequestsInACrowd has many more open requests than slots, from a number after which
// they begin anew: each is found by its own number, and by nobody else's.
func TestOpenRequestsInACrowd(t *testing.T) {
	const all = 3 << slotBits
	r := &replies{}
	r.last.Store(^uint32(0) - all/2)
	requests := make([]*request, all)
	byNumber := map[uint32]*request{}
	for i := range requests {
		requests[i] = &request{}
		r.add(requests[i])
		byNumber[requests[i].id] = requests[i]
	}
	if len(byNumber) != all || byNumber[0] != nil || r.open.count() != all || r.open.crowded.Load() == 0 {
		t.Fatalf("%d numbers for %d requests, %d counted, %d crowded", len(byNumber), all, r.open.count(), r.open.crowded.Load())
	}
	for id, want := range byNumber {
		if r.open.find(id) != want {
			t.Fatalf("%d is another request", id)
		}
	}
	for _, one := range requests {
		r.remove(one)
		r.remove(one) // has no effect
		if r.open.find(one.id) != nil {
			t.Fatalf("%d is found after its end", one.id)
		}
	}
	if r.open.count() != 0 {
		t.Errorf("%d are left", r.open.count())
	}
}

func TestOpenRequestsOfManyAtOnce(t *testing.T) {
	r := &replies{}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			var mine []*request
			for range 20_000 {
				if one := (&request{}); len(mine) < 2_000 && rand.IntN(2) == 0 {
					r.add(one)
					mine = append(mine, one)
				} else if n := len(mine); n > 0 {
					one, mine = mine[n-1], mine[:n-1]
					if r.open.find(one.id) != one {
						t.Errorf("%d is another request", one.id)
					}
					r.remove(one)
				}
			}
			for _, one := range mine {
				r.remove(one)
			}
		})
	}
	all.Wait()
	if r.open.count() != 0 {
		t.Errorf("%d are left", r.open.count())
	}
}
