package static

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/knadh/koanf/providers/rawbytes"
	"github.com/knadh/koanf/v2"
	"go.yaml.in/yaml/v3"
)

type parser struct{}

func (parser) Unmarshal(text []byte) (m map[string]any, err error) {
	return m, yaml.Unmarshal(text, &m)
}
func (parser) Marshal(m map[string]any) ([]byte, error) { return yaml.Marshal(m) }

// Options are read from a file as they are: ranges as text, lists, and single numbers.
func TestSTA1_OptionsAreReadByTheirKeys(t *testing.T) {
	k := koanf.New(".")
	text := "assignments: {a: '0-2, 5', b: [3, 4], c: 6, d: ''}\nbackoff_base: 2s\nbackoff_max: 1m\nmax_concurrency: 3\n"
	if err := k.Load(rawbytes.Provider([]byte(text)), parser{}); err != nil {
		t.Fatal(err)
	}
	var o Options
	if err := k.Unmarshal("", &o); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(o.Assignments); got != "map[a:0-2,5 b:3-4 c:6 d:]" {
		t.Errorf("assignments %s", got)
	}
	if o.BackoffBase != 2*time.Second || o.BackoffMax != time.Minute || o.MaxConcurrency != 3 || o.Nodes != nil {
		t.Errorf("options %+v", o)
	}
	bad := koanf.New(".")
	if err := bad.Load(rawbytes.Provider([]byte("assignments: {a: 3-x}")), parser{}); err != nil {
		t.Fatal(err)
	}
	if err := bad.Unmarshal("", &o); err == nil || !strings.Contains(err.Error(), `"3-x"`) {
		t.Errorf("a bad range: %v", err)
	}
}
