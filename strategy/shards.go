package strategy

import (
	"fmt"
	"strconv"
	"strings"
)

// Shards is a list of shard numbers as options take it. Its text is compact: numbers and
// ranges that include both ends, with commas between them, as in "0-31, 40".
type Shards []int

// Range is the shards from first to last, both included; none if last is below first.
func Range(first, last int) Shards {
	s := Shards{}
	for n := first; n <= last; n++ {
		s = append(s, n)
	}
	return s
}

// lastShard is the last shard of the largest cluster. It bounds what a text can ask for.
const lastShard = 999_999

// String is the compact text.
func (s Shards) String() string {
	var b strings.Builder
	for i := 0; i < len(s); {
		end := i + 1
		for end < len(s) && s[end] == s[end-1]+1 {
			end++
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(s[i]))
		if end-i > 1 {
			b.WriteString("-" + strconv.Itoa(s[end-1]))
		}
		i = end
	}
	return b.String()
}

// MarshalText is the compact text.
func (s Shards) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the compact text. Spaces do not count. Errors quote the part that
// cannot be read.
func (s *Shards) UnmarshalText(text []byte) error {
	list := Shards{}
	if strings.TrimSpace(string(text)) == "" {
		*s = list
		return nil
	}
	for part := range strings.SplitSeq(string(text), ",") {
		first, last, err := bounds(strings.TrimSpace(part))
		if err != nil {
			return err
		}
		if len(list)+last-first > lastShard {
			return fmt.Errorf("shards: %q names a shard twice", part)
		}
		list = append(list, Range(first, last)...)
	}
	*s = list
	return nil
}

// bounds are the ends of one part of the text.
func bounds(part string) (first, last int, err error) {
	low, high, isRange := strings.Cut(part, "-")
	if !isRange {
		high = low
	}
	first, firstErr := number(low)
	last, lastErr := number(high)
	switch {
	case firstErr != nil || lastErr != nil:
		return 0, 0, fmt.Errorf("shards: %q is neither a shard from 0 to %d nor a range as in 0-31", part, lastShard)
	case last < first:
		return 0, 0, fmt.Errorf("shards: %q ends before it begins", part)
	}
	return first, last, nil
}

func number(text string) (int, error) {
	n, err := strconv.ParseUint(strings.TrimSpace(text), 10, 32)
	if err == nil && n > lastShard {
		err = strconv.ErrRange
	}
	return int(n), err
}
