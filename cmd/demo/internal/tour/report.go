package tour

import (
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/slap-go/slap/cmd/demo/internal/load"
	"github.com/slap-go/slap/cmd/demo/internal/shardmap"
)

// row is what the table says of one step.
type row struct {
	step, happened string
	outage         time.Duration
	acknowledged   int64
	verdict        load.Verdict
}

// table ends the tour. It fails if any step found something wrong.
func (t *tour) table() error {
	fmt.Fprintln(t.out)
	table := tabwriter.NewWriter(t.out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "STEP\tWHAT HAPPENED\tLONGEST WITHOUT A WRITE\tACKNOWLEDGED\tLOST")
	var failed error
	for _, r := range t.rows {
		outage := "-"
		if r.acknowledged > 0 {
			outage = seconds(r.outage)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%d\n", r.step, r.happened, outage, r.acknowledged, r.verdict.Lost)
		if failed == nil && !r.verdict.OK() {
			failed = fmt.Errorf("%s: %s", r.step, r.verdict)
		}
	}
	return errors.Join(table.Flush(), failed)
}

// picture is the shard map on one line.
func picture(m shardmap.Map) string {
	var line strings.Builder
	line.WriteString("shards ")
	for _, s := range m.Shards {
		line.WriteString(" " + s.Sign())
	}
	return line.String()
}
