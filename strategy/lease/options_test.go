package lease

import (
	"strings"
	"testing"
	"time"
)

func TestLL1_Defaults(t *testing.T) {
	o, err := Options{}.withDefaults()
	want := Options{TTL: 15 * time.Second, Interval: 5 * time.Second, Margin: 2500 * time.Millisecond, MaxConcurrency: 16}
	if err != nil || o != want {
		t.Errorf("%+v, %v, want %+v", o, err, want)
	}
	if p := o.patience(); p != 2500*time.Millisecond {
		t.Errorf("a request may take %v", p)
	}
	if o, err := (Options{TTL: 300 * time.Millisecond}).withDefaults(); err != nil || o.patience() != 100*time.Millisecond {
		t.Errorf("with a short TTL a request may take %v, %v", o.patience(), err)
	}
}

func TestLL1_P2_4_BadOptionsAreNamed(t *testing.T) {
	for _, c := range []struct {
		options Options
		names   []string
	}{
		{Options{TTL: -time.Second}, []string{"TTL", "-1s"}},
		{Options{TTL: time.Millisecond}, []string{"TTL", "1ms"}},
		{Options{TTL: 48 * time.Hour}, []string{"TTL", "48h"}},
		{Options{Interval: -1}, []string{"Interval", "-1ns"}},
		{Options{Interval: 5}, []string{"Interval", "5ns", "1ms"}}, // without a unit: rounds without a pause
		{Options{Margin: -1}, []string{"Margin", "-1ns"}},
		{Options{TTL: time.Minute, Margin: time.Second}, []string{"Margin", "1s", "twentieth"}},
		{Options{TTL: 3 * time.Second, Interval: 2 * time.Second, Margin: time.Second}, []string{"Interval", "Margin", "TTL"}},
		{Options{MaxConcurrency: -1}, []string{"MaxConcurrency"}},
		{Options{MaxClockSkew: -1}, []string{"MaxClockSkew"}},
		{Options{TTL: 3 * time.Second, MaxClockSkew: 3 * time.Second}, []string{"MaxClockSkew", "3s"}},
	} {
		_, err := New("some", c.options, nil)
		if err == nil {
			t.Errorf("%+v is taken", c.options)
			continue
		}
		for _, word := range append(c.names, "some strategy: ") {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("%+v: %q does not say %q", c.options, err, word)
			}
		}
	}
}
