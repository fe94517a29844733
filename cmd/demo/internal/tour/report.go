package tour

import (
	"fmt"
	"time"

	"github.com/slap-go/slap/cmd/demo/internal/load"
)

// row is what the table says of one step.
type row struct {
	step, happened string
	outage         time.Duration
	tally          load.Tally
	verdict        load.Verdict
}

// table ends the tour. It fails if any step found something wrong.
func (t *tour) table() error {
	const form = "%-10s  %-45s  %11s  %12v  %4v\n"
	fmt.Fprintf(t.out, "\n"+form, "", "", "LONGEST", "", "")
	fmt.Fprintf(t.out, form, "STEP", "WHAT HAPPENED", "UNWRITABLE", "ACKNOWLEDGED", "LOST")
	var failed error
	for _, r := range t.rows {
		outage := "-"
		if r.tally.Acknowledged > 0 {
			outage = seconds(r.outage)
		}
		fmt.Fprintf(t.out, form, r.step, r.happened, outage, r.tally.Acknowledged, r.verdict.Lost)
		if failed == nil && !r.verdict.OK() {
			failed = fmt.Errorf("%s: %s", r.step, r.verdict)
		}
	}
	return failed
}
