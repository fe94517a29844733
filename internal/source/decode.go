package source

import (
	"encoding"
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/go-viper/mapstructure/v2"
)

// Decode decodes the value at the path into what the pointer points to. In a struct
// the key of a field is its tag "koanf", or else its name in snake case. A value of
// another type, a fraction or a number without a unit where they do not fit, a
// missing value and an unknown key are errors; so is a field of a number that is 0,
// unless its tag ends with ",zero", since code could not say that either.
func (s *Source) Decode(into any, path ...string) error {
	given, target := s.at(path), reflect.ValueOf(into).Elem()
	if err := s.checkKeys(given, target.Type(), path); err != nil {
		return err
	}
	d, err := mapstructure.NewDecoder(&mapstructure.DecoderConfig{
		Result: into, TagName: tag, DecodeHook: strict, Squash: true,
		MatchName: func(key, field string) bool { return key == Snake(field) },
	})
	if err != nil {
		return err
	}
	if err := d.Decode(given); err != nil {
		return s.decodeError(path, err)
	}
	return s.refuseZeros(path, target)
}

// checkKeys refuses a key without a value, and one that no field has, at any depth.
func (s *Source) checkKeys(given any, t reflect.Type, path []string) error {
	if given == nil {
		return s.Errorf(path, "has no value: set it, or leave the key out")
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch given := typed(given).(type) {
	case map[string]any:
		for _, key := range sortedKeys(given) {
			inner, err := s.typeBelow(t, path, key)
			if err != nil {
				return err
			}
			if err := s.checkKeys(given[key], inner, below(path, key)); err != nil {
				return err
			}
		}
	case []any:
		for i, item := range given {
			if t.Kind() != reflect.Slice {
				break
			}
			if err := s.checkKeys(item, t.Elem(), below(path, fmt.Sprintf("[%d]", i))); err != nil {
				return err
			}
		}
	}
	return nil
}

// typeBelow is the type of what is at the key of a struct or a map. What is neither
// has no keys to check; decoding refuses it.
func (s *Source) typeBelow(t reflect.Type, path []string, key string) (reflect.Type, error) {
	switch {
	case t.Kind() == reflect.Map:
		return t.Elem(), nil
	case t.Kind() != reflect.Struct || reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return t, nil
	}
	for _, f := range fields(t) {
		if f.key == key {
			return f.typed, nil
		}
	}
	return nil, s.Unknown(below(path, key), KeysOf(t))
}

const tag = "koanf"

// decodeError is the first complaint, about the key that it concerns.
func (s *Source) decodeError(path []string, err error) error {
	wrong, ok := errors.AsType[*mapstructure.DecodeError](err)
	if !ok {
		return s.Errorf(path, "cannot be read: %w", err)
	}
	path = append(slices.Clone(path), keysOf(wrong.Name())...)
	if mismatch, ok := errors.AsType[*mismatch](err); ok {
		return s.Errorf(path, "must be %s%s", mismatch.want, instead(mismatch.got))
	}
	return s.At(fmt.Errorf("%s: %w", s.spell(path), wrong.Unwrap()), path...)
}

// part is one of a name such as Nodes[a][0].Address, by which the decoder says where it was.
var part = regexp.MustCompile(`\[([^\]]*)\]|[^.\[\]]+`)

// keysOf are the keys of the name of a field.
func keysOf(name string) []string {
	var keys []string
	for _, m := range part.FindAllStringSubmatch(name, -1) {
		_, err := strconv.Atoi(m[1])
		switch {
		case !strings.HasPrefix(m[0], "["):
			keys = append(keys, Snake(m[0]))
		case err == nil: // an index
			keys = append(keys, m[0])
		default: // of a map
			keys = append(keys, m[1])
		}
	}
	return keys
}

// mismatch is a value of the wrong type.
type mismatch struct {
	want string
	got  any
}

// Error says what is wanted.
func (m *mismatch) Error() string { return "must be " + m.want }

// strict turns a value into one that the type takes without loss.
func strict(from, to reflect.Value) (any, error) {
	var value any
	if from.IsValid() {
		value = from.Interface()
	}
	switch to.Kind() {
	case reflect.Pointer: // what it points to comes next
		return value, nil
	case reflect.Interface:
		return typed(value), nil
	}
	if reader, ok := reflect.TypeAssert[encoding.TextUnmarshaler](to.Addr()); ok && !isList(value, to) {
		return unmarshal(value, to, reader)
	}
	if to.Type() == reflect.TypeFor[time.Duration]() {
		text, _ := textOf(value)
		d, err := time.ParseDuration(text)
		if err != nil {
			return nil, &mismatch{`a duration such as "5s"`, value}
		}
		return d, nil
	}
	return strictKind(value, to)
}

// isList says whether a value is a list, where the type is one that text stands for, too.
func isList(value any, to reflect.Value) bool {
	_, ok := typed(value).([]any)
	return ok && to.Kind() == reflect.Slice
}

// unmarshal lets the type read the text, or the digits, that the value is.
func unmarshal(value any, to reflect.Value, reader encoding.TextUnmarshaler) (any, error) {
	text, ok := textOf(value)
	if n, isNumber := whole(value); isNumber {
		text, ok = strconv.FormatInt(n, 10), true
	}
	if !ok {
		return nil, &mismatch{"text", hidden(value)}
	}
	if err := reader.UnmarshalText([]byte(text)); err != nil {
		return nil, err
	}
	return to.Interface(), nil
}

// strictKind is strict for the types that are no more than their kind.
func strictKind(value any, to reflect.Value) (any, error) {
	if to.Kind() == reflect.String {
		switch _, ok := textOf(value); {
		case ok:
			return value, nil
		case value == nil, reflect.TypeOf(value).Comparable(): // neither a list nor an object
			return nil, &mismatch{"text: put it in quotes", value}
		}
		return nil, &mismatch{"text", value}
	}
	if text, ok := value.(Text); ok { // texts deeper down wait for their own types
		value = text.read()
	}
	if want, fits := demand(value, to); !fits {
		return nil, &mismatch{want, value}
	}
	return value, nil
}

// demand is what a type wants, and whether a value is that.
func demand(value any, to reflect.Value) (want string, fits bool) {
	n, isWhole := whole(value)
	switch {
	case to.CanInt():
		return "a whole number", isWhole && !to.OverflowInt(n)
	case to.CanUint():
		big, isBig := value.(uint64)
		fits = isWhole && n >= 0 && !to.OverflowUint(uint64(n)) || isBig && !to.OverflowUint(big)
		return "a whole number of at least 0", fits
	case to.CanFloat():
		f, isFloat := value.(float64)
		return "a number", isWhole || isFloat && !math.IsNaN(f) && !math.IsInf(f, 0)
	case to.Kind() == reflect.Bool:
		_, fits = value.(bool)
		return "true or false", fits
	case to.Kind() == reflect.Slice:
		_, fits = value.([]any)
		return "a list such as [a, b]", fits
	case to.Kind() == reflect.Struct, to.Kind() == reflect.Map:
		_, fits = value.(map[string]any)
		return "an object of further keys", fits
	}
	return "left to the program, which alone can set it", false
}

// textOf is the text that a value is.
func textOf(value any) (string, bool) {
	switch v := value.(type) {
	case Text:
		return string(v), true
	case string:
		return v, true
	}
	return "", false
}

// hidden is a value that is not repeated, but for its kind: something may be nested
// in it that is a secret.
func hidden(value any) any {
	switch value.(type) {
	case map[string]any, []any, nil:
		return value
	}
	return reflect.TypeOf(value)
}

// whole is the number that a value is, if it is one without a fraction.
func whole(value any) (int64, bool) {
	switch v := reflect.ValueOf(value); {
	case v.IsValid() && v.CanInt():
		return v.Int(), true
	case v.IsValid() && v.CanUint() && v.Uint() <= math.MaxInt64:
		return int64(v.Uint()), true
	}
	return 0, false
}

// refuseZeros refuses the fields of numbers that are 0 and may not be.
func (s *Source) refuseZeros(path []string, into reflect.Value) error {
	if into.Kind() != reflect.Struct {
		return nil
	}
	given, _ := s.at(path).(map[string]any)
	for _, f := range fields(into.Type()) {
		value := into.FieldByIndex(f.index)
		number := value.CanInt() || value.CanUint() || value.CanFloat()
		if _, ok := given[f.key]; ok && number && value.IsZero() && !f.zero {
			return s.Errorf(below(path, f.key), "must not be %v: set it above 0, or leave it out", value)
		}
	}
	return nil
}

// field is one of a struct's that a key can set.
type field struct {
	key   string
	zero  bool // 0 is a value of its own
	index []int
	typed reflect.Type
}

func fields(t reflect.Type) []field {
	var all []field
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get(tag), ",")
		settable := !slices.Contains([]reflect.Kind{reflect.Func, reflect.Chan, reflect.Interface}, f.Type.Kind())
		if !f.IsExported() || f.Anonymous || name == "-" || !settable {
			continue
		}
		if name == "" {
			name = Snake(f.Name)
		}
		all = append(all, field{name, options == "zero", f.Index, f.Type})
	}
	return all
}

// KeysOf are the keys of a struct's fields that a source can set, sorted.
func KeysOf(t reflect.Type) []string {
	var keys []string
	for _, f := range fields(t) {
		keys = append(keys, f.key)
	}
	slices.Sort(keys)
	return keys
}

// Snake is a Go name in snake case: LeaseTTL is lease_ttl.
func Snake(name string) string {
	var b strings.Builder
	letters := []rune(name)
	for i, r := range letters {
		begins := i > 0 && unicode.IsUpper(r) &&
			(!unicode.IsUpper(letters[i-1]) && letters[i-1] != '_' || i+1 < len(letters) && unicode.IsLower(letters[i+1]))
		if begins {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
