package tour

import (
	"fmt"
	"io"
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

// report is the table at the end of the tour. It fails if any step found something wrong.
func report(out io.Writer, rows []row) (failed error) {
	const form = "%-10s  %-45s  %14v  %12v  %4v\n"
	fmt.Fprintf(out, "\n"+form, "STEP", "WHAT HAPPENED", "LONGEST OUTAGE", "ACKNOWLEDGED", "LOST")
	all := int64(0)
	for _, r := range rows {
		outage := "-"
		if r.tally.Acknowledged > 0 {
			outage = seconds(r.outage)
		}
		all += r.tally.Acknowledged
		fmt.Fprintf(out, form, r.step, r.happened, outage, r.tally.Acknowledged, r.verdict.Lost)
		if failed == nil && !r.verdict.OK() {
			failed = fmt.Errorf("%s: %s", r.step, r.verdict)
		}
	}
	fmt.Fprintln(out, "\nAn outage is the time in which no write to one shard, that with the longest, was acknowledged.")
	if failed == nil {
		fmt.Fprintf(out, "Of %d acknowledged writes none was lost.\n", all)
	}
	return failed
}
