package flags

import (
	"errors"
	"flag"
	"time"
)

var errDuration = errors.New("it is no duration such as 100ms")

// Duration defines a flag whose value is a number with a unit, as
// [time.ParseDuration] reads it.
func Duration(set *flag.FlagSet, value *time.Duration, name string, initial time.Duration, usage string) {
	*value = initial
	set.Var((*duration)(value), name, usage)
}

type duration time.Duration

// String is the duration with its unit.
func (d *duration) String() string { return time.Duration(*d).String() }

// Set reads a duration.
func (d *duration) Set(text string) error {
	read, err := time.ParseDuration(text)
	if err != nil {
		return errDuration
	}
	*d = duration(read)
	return nil
}
