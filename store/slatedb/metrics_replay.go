package slatedb

// A replay turns the engine's histogram, of which only buckets and a sum are
// known, back into measurements: as many in each bucket as there were, and with
// the same sum within a thousandth. The zero value has replayed nothing.
type replay struct {
	buckets []uint64
	sum     float64
}

// next is what was measured since the last call, equal measurements for each
// bucket. The bounds are upper bounds, inclusive; the last bucket has none.
func (r *replay) next(bounds []float64, buckets []uint64, sum float64) []observation {
	if r.buckets == nil {
		r.buckets = make([]uint64, len(buckets))
	}
	var all []observation
	var widths []float64
	var least, room float64 // the sum of all at their lower bounds, and up to their upper ones
	for i, n := range buckets {
		times := n - r.buckets[i]
		if times == 0 {
			continue
		}
		low, width := bucket(bounds, i)
		all, widths = append(all, observation{value: low, times: times}), append(widths, width)
		least += float64(times) * low
		room += float64(times) * width
	}
	open := buckets[len(bounds)] > r.buckets[len(bounds)] // something is in the last bucket
	copy(r.buckets, buckets)
	if len(all) == 0 {
		return nil
	}
	share := min(max((sum-r.sum-least)/room, 0.001), 0.999) // away from the bounds, for rounding
	for i := range all {
		all[i].value += share * widths[i]
		r.sum += float64(all[i].times) * all[i].value
	}
	if beyond := sum - r.sum; open && beyond > 0 {
		last := &all[len(all)-1]
		last.value += beyond / float64(last.times)
		r.sum = sum
	}
	return all
}

// bucket is the lower bound and the width of a bucket. That of the last one is
// as wide as its lower bound.
func bucket(bounds []float64, i int) (low, width float64) {
	if i > 0 {
		low = bounds[i-1]
	}
	if i < len(bounds) {
		return low, bounds[i] - low
	}
	return low, low
}
