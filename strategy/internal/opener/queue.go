package opener

import "container/heap"

// queue holds the shards that are to be opened at some time, the earliest first.
type queue []*entry

// notQueued is the place of an entry that is not in the queue.
const notQueued = -1

func (q *queue) put(e *entry) { heap.Push(q, e) }

func (q *queue) take() *entry { return heap.Pop(q).(*entry) } //nolint:forcetypeassert // it holds nothing else

// drop removes the entry, if it is there.
func (q *queue) drop(e *entry) {
	if e.place != notQueued {
		heap.Remove(q, e.place)
	}
}

// Len, Less, Swap, Push and Pop are what the heap needs.
func (q *queue) Len() int { return len(*q) }

func (q *queue) Less(i, j int) bool {
	a, b := (*q)[i], (*q)[j]
	if !a.due.Equal(b.due) {
		return a.due.Before(b.due)
	}
	return a.shard < b.shard
}

func (q *queue) Swap(i, j int) {
	list := *q
	list[i], list[j] = list[j], list[i]
	list[i].place, list[j].place = i, j
}

func (q *queue) Push(e any) {
	entry := e.(*entry) //nolint:forcetypeassert // only put calls it
	entry.place = len(*q)
	*q = append(*q, entry)
}

func (q *queue) Pop() any {
	last := len(*q) - 1
	e := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	e.place = notQueued
	return e
}
