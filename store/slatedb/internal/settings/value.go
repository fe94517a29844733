package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// plain turns a value of any Go type into what JSON makes of it, and a
// time.Duration into its string.
func plain(value any) (any, error) {
	switch v := value.(type) {
	case time.Duration:
		return v.String(), nil
	case map[string]any: // its own values come later
		return v, nil
	}
	text, err := json.Marshal(value)
	if err != nil {
		return nil, errors.New("the value cannot be written as JSON")
	}
	object, err := decodeObject(`{"value":` + string(text) + `}`)
	return object["value"], err
}

// shown is a value as an error shows it.
func shown(value any) string {
	text, err := json.Marshal(value)
	switch {
	case err != nil:
		return fmt.Sprintf("a %T", value)
	case len(text) > 60:
		return string(text[:60]) + "…"
	}
	return string(text)
}

// check returns the value as the engine reads it, or an error that says what it
// must be.
func (s setting) check(value any) (any, error) {
	switch s.kind {
	case flag:
		if b, ok := value.(bool); ok {
			return b, nil
		}
		return nil, errors.New("true or false")
	case on:
		if value == true {
			return value, nil
		}
		return nil, errors.New("true, or flushing and closing would fail")
	case text:
		if t, ok := value.(string); ok && t != "" {
			return t, nil
		}
		return nil, errors.New("a string that is not empty")
	case choice:
		return s.checkChoice(value)
	case span:
		return s.checkSpan(value)
	case decimal:
		return s.checkDecimal(value)
	default:
		return s.checkNumber(value)
	}
}

func (s setting) checkChoice(value any) (any, error) {
	t, _ := value.(string)
	for _, c := range s.choices {
		if strings.EqualFold(t, c) {
			return c, nil
		}
	}
	return nil, fmt.Errorf("one of %q", s.choices)
}

// checkNumber checks a whole number. A numeral is one in a string for the engine,
// and in either form for the user.
func (s setting) checkNumber(value any) (any, error) {
	digits, ok := digitsOf(value, s.kind == numeral)
	n, err := strconv.ParseUint(digits, 10, 64)
	if !ok || err != nil && !errors.Is(err, strconv.ErrRange) {
		return nil, errors.New("a whole number")
	}
	if err := s.within(n, func(n uint64) string { return strconv.FormatUint(n, 10) }); err != nil {
		return nil, err
	}
	if s.kind == numeral {
		return digits, nil
	}
	return n, nil
}

func (s setting) checkSpan(value any) (any, error) {
	t, _ := value.(string)
	d, err := time.ParseDuration(t)
	if err != nil || d < 0 {
		return nil, errors.New(`a duration such as "100ms", "5s" or "1h30m"`)
	}
	if err := s.within(uint64(d), func(n uint64) string { return time.Duration(n).String() }); err != nil {
		return nil, err
	}
	return strconv.FormatInt(d.Nanoseconds(), 10) + "ns", nil // the engine reads no fractions
}

func (s setting) checkDecimal(value any) (any, error) {
	digits, ok := digitsOf(value, true)
	f, err := strconv.ParseFloat(digits, 32)
	if !ok || err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, errors.New("a number")
	}
	if f < float64(s.min) {
		return nil, fmt.Errorf("at least %d, or %s", s.min, s.because)
	}
	return digits, nil
}

// digitsOf is the text of a number, or of a string where one may stand for it.
func digitsOf(value any, mayBeString bool) (string, bool) {
	if n, ok := value.(json.Number); ok {
		return n.String(), true
	}
	t, ok := value.(string)
	return t, ok && mayBeString
}

// within checks the bounds of a number.
func (s setting) within(n uint64, format func(uint64) string) error {
	switch {
	case n < s.min:
		return fmt.Errorf("at least %s, or %s", format(s.min), s.because)
	case n > s.max:
		return fmt.Errorf("at most %s", format(s.max))
	}
	return nil
}
