package lease

import (
	"cmp"
	"encoding/binary"
	"hash/fnv"
	"reflect"
	"slices"
	"time"

	"github.com/slap-go/slap/strategy"
)

// mark begins every version and nonce of the exploration: only which of them are the same
// counts.
const mark = '~'

// keyer writes states in a form in which those that behave alike are the same: versions and
// nonces are numbered as they occur, and instants are relative to the node's clock.
type keyer struct {
	out   []byte
	names map[string]byte
	now   strategy.Instant
	past  time.Duration // older than this is all the same
}

var (
	instantType = reflect.TypeFor[strategy.Instant]()
	timeType    = reflect.TypeFor[time.Time]()
	leaseType   = reflect.TypeFor[*strategy.Lease]()
	listerType  = reflect.TypeFor[*peer]()
)

func (k *keyer) sum() uint64 {
	h := fnv.New64a()
	h.Write(k.out)
	return h.Sum64()
}

func (k *keyer) int(n int64) { k.out = binary.AppendVarint(k.out, n) }

func (k *keyer) text(s string) {
	if s == "" || s[0] != mark {
		k.out = append(append(k.out, s...), 0)
		return
	}
	n, ok := k.names[s]
	if !ok {
		n = byte(len(k.names))
		k.names[s] = n
	}
	k.out = append(k.out, mark, n)
}

func (k *keyer) instant(i strategy.Instant) {
	switch i {
	case 0, never:
		k.int(int64(i))
	default:
		k.int(int64(max(i.Sub(k.now), -k.past)) + 1)
	}
}

// value writes anything but functions and wall clocks.
func (k *keyer) value(v reflect.Value) {
	switch v.Type() {
	case instantType:
		k.instant(strategy.Instant(v.Int()))
		return
	case timeType:
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			k.int(1)
		} else {
			k.int(0)
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		k.int(v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		k.int(int64(v.Uint()))
	case reflect.String:
		k.text(v.String())
	case reflect.Func:
	case reflect.Pointer, reflect.Interface:
		k.pointer(v)
	default:
		k.compound(v)
	}
}

func (k *keyer) pointer(v reflect.Value) {
	if v.IsNil() {
		k.int(0)
		return
	}
	k.int(1)
	if v.Kind() == reflect.Interface {
		k.text(v.Elem().Type().Name())
	}
	k.value(v.Elem())
}

func (k *keyer) compound(v reflect.Value) {
	switch v.Kind() {
	case reflect.Slice, reflect.Array:
		k.int(int64(v.Len()))
		for i := range v.Len() {
			k.value(v.Index(i))
		}
	case reflect.Map:
		k.int(int64(v.Len()))
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int {
			if a.Kind() == reflect.String {
				return cmp.Compare(a.String(), b.String())
			}
			return cmp.Compare(a.Int(), b.Int())
		})
		for _, key := range keys {
			k.value(key)
			k.value(v.MapIndex(key))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			k.field(v.Field(i))
		}
	default:
		panic("no key for " + v.Type().String())
	}
}

// field writes a field. A lease is its deadline, and the peer that lists a shard is its name.
func (k *keyer) field(f reflect.Value) {
	switch {
	case f.Kind() == reflect.Pointer && f.IsNil():
		k.int(0)
	case f.Type() == leaseType:
		k.int(int64(f.Elem().FieldByName("generation").Uint()))
		k.instant(strategy.Instant(f.Elem().FieldByName("deadline").FieldByName("v").Int()))
	case f.Type() == listerType:
		k.text(f.Elem().FieldByName("node").FieldByName("Name").String())
	default:
		k.value(f)
	}
}
