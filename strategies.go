package slap

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/slap-go/slap/internal/source"
	"github.com/slap-go/slap/strategy"
	"github.com/slap-go/slap/strategy/local"
	"github.com/slap-go/slap/strategy/objectlease"
	"github.com/slap-go/slap/strategy/static"
)

const strategyOptions = "strategy_options"

// strategies are those that a key can name.
var strategies = map[string]named{
	"local":        of(local.New),
	"static":       of(static.New),
	"object-lease": of(objectlease.New),
}

// named is a strategy that is made from its options by key.
type named struct {
	options reflect.Type
	make    func(s *source.Source) (strategy.Strategy, error)
}

// of is a strategy by its constructor.
func of[O any, S strategy.Strategy](construct func(O) (S, error)) named {
	return named{reflect.TypeFor[O](), func(s *source.Source) (strategy.Strategy, error) {
		var options O
		said := "strategy"
		if s.Has(strategyOptions) {
			said = strategyOptions
			if err := s.Decode(&options, strategyOptions); err != nil {
				return nil, err
			}
		}
		made, err := construct(options)
		if err != nil {
			return nil, s.At(err, said)
		}
		return made, nil
	}}
}

func makeStrategy(s *source.Source) (strategy.Strategy, error) {
	var name string
	if err := s.Decode(&name, "strategy"); err != nil {
		return nil, err
	}
	n, ok := strategies[name]
	if !ok {
		known := strings.Join(slices.Sorted(maps.Keys(strategies)), ", ")
		return nil, s.Errorf([]string{"strategy"}, "%s is unknown: use %s", quoted(name), known)
	}
	return n.make(s)
}
