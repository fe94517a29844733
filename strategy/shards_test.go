package strategy

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestShardsHaveACompactText(t *testing.T) {
	for text, want := range map[string]Shards{
		"":                {},
		" ":               {},
		"7":               {7},
		"0-3":             {0, 1, 2, 3},
		" 0 - 2 , 9,5-5 ": {0, 1, 2, 9, 5},
		"3,0":             {3, 0},
	} {
		var got Shards
		if err := got.UnmarshalText([]byte(text)); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v, want %v", text, []int(got), err, []int(want))
		}
	}
	if text := append(Range(0, 31), 40, 39, 40, 41).String(); text != "0-31,40,39-41" {
		t.Errorf("text %q", text)
	}
	if none := Range(3, 2); len(none) > 0 {
		t.Errorf("from 3 to 2: %v", none)
	}
}

func TestShardsThatCannotBeReadAreQuoted(t *testing.T) {
	for text, quoted := range map[string]string{
		"a":               `"a"`,
		"0,,1":            `""`,
		"1,2-":            `"2-"`,
		"-1":              `"-1"`,
		"+1":              `"+1"`,
		"5-3":             `"5-3"`,
		"1-2-3":           `"1-2-3"`,
		"1000000":         `"1000000"`,
		"0-9999999999999": `"0-9999999999999"`,
		"0-999999,3":      `"3"`,
	} {
		got := Shards{1}
		err := got.UnmarshalText([]byte(text))
		if err == nil || !strings.Contains(err.Error(), quoted) || !strings.Contains(err.Error(), "shards: ") {
			t.Errorf("%q: %v, want it to quote %s", text, err, quoted)
		}
		if !slices.Equal(got, Shards{1}) {
			t.Errorf("%q: changed to %v", text, got)
		}
	}
}

func TestShardsAreReadAsTheyWereWritten(t *testing.T) {
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	for range 1000 {
		want := Shards{}
		for range random.IntN(10) {
			first := random.IntN(50)
			want = append(want, Range(first, first+random.IntN(5))...)
		}
		text, err := want.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		var got Shards
		if err := got.UnmarshalText(text); err != nil || !slices.Equal(got, want) {
			t.Fatalf("%v written as %q, read as %v, %v (seed %d)", []int(want), text, []int(got), err, seed)
		}
	}
}
