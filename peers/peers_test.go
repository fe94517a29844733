package peers

import (
	"context"
	"slices"
	"strings"
	"testing"
)

func TestParseReadsWhatStringWrites(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "",
		" ":                                  "",
		"a=h:1,b=h:2":                        "a=h:1,b=h:2",
		" a=h:1 , b=127.0.0.1:7002 ":         "a=h:1,b=127.0.0.1:7002",
		"h:1,[::1]:7001":                     "h:1,[::1]:7001",
		"dns:nodes.example:7001":             "nodes.example:7001",
		"a=h:1,dns:nodes.example:7001,k=j:1": "a=h:1,nodes.example:7001,k=j:1",
	} {
		s, err := Parse(text)
		if err != nil || s.String() != want || s.IsZero() != (want == "") {
			t.Errorf("%q: %q, %v", text, s, err)
		}
		again, err := Parse(s.String())
		if err != nil || !slices.Equal(again.List(), s.List()) {
			t.Errorf("%q again: %v, %v", text, again.List(), err)
		}
	}
}

// Each text is refused in one sentence that contains the words beside it.
func TestParseRefuses(t *testing.T) {
	for text, says := range map[string]string{
		"a":                 `peer "a" has no address: write name=host:port`,
		"a=":                `peer "a" has no address`,
		"a=h:1,":            `peer "" has no address`,
		"=h:1":              `peer "=h:1" has no valid name`,
		"a/b=h:1":           "no valid name",
		"a=h":               "needs an address of the form host:port",
		"a=h:0":             "needs a port between 1 and 65535",
		"a=h:65536":         "needs a port between 1 and 65535",
		"a=h:http":          "needs a port between 1 and 65535",
		"a=:1":              "needs a host",
		"a=0.0.0.0:1":       "needs a host that others can call",
		"a=[::]:1":          "needs a host that others can call",
		"a=h:1,a=h:2":       `peer "a" is named twice`,
		"a=h:1,b=H.:1":      "two peers have the address H.:1",
		"dns:127.0.0.1:1":   "127.0.0.1:1 is no host name",
		"dns:nodes.example": "nodes.example",
	} {
		_, err := Parse(text)
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v; want %q", text, err, says)
		}
	}
}

func TestCheckTellsWhatIsWrongWithASource(t *testing.T) {
	for says, s := range map[string]Source{
		"is named twice":      Static("a=h:1", "a=h:2"),
		"has no address":      Static("a"),
		"is no host name":     DNS("[::1]:1"),
		"needs an address":    DNS("h:x:y"),
		"the function is nil": Func(nil),
	} {
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), says) || s.IsZero() {
			t.Errorf("%v; want %q", err, says)
		}
	}
	for _, s := range []Source{{}, Static("a=h:1"), DNS("h:1"), Func(func(context.Context) ([]Peer, error) { return nil, nil })} {
		if err := s.Check(); err != nil {
			t.Errorf("%v: %v", s, err)
		}
	}
}
