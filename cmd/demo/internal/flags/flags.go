// Package flags reads command lines strictly and says what is wrong with them in
// one sentence.
package flags

import (
	"errors"
	"flag"
	"fmt"
	"io"
)

// Parse reads the flags of the subcommand that the set is named for and refuses
// anything beside them. A request for help prints the flags to usage and gives
// [flag.ErrHelp].
func Parse(set *flag.FlagSet, arguments []string, usage io.Writer) error {
	set.SetOutput(io.Discard)
	err := set.Parse(arguments)
	switch {
	case errors.Is(err, flag.ErrHelp):
		set.SetOutput(usage)
		set.PrintDefaults()
		return err
	case err != nil:
		return fmt.Errorf("%w; `demo %s --help` lists the flags", err, set.Name())
	case set.NArg() > 0:
		return fmt.Errorf("stray argument %q: `demo %s` takes flags only", set.Arg(0), set.Name())
	}
	return nil
}
