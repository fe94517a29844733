package strategy

import (
	"fmt"
	"testing"
)

func TestDownReasonsHaveNames(t *testing.T) {
	if got := fmt.Sprint(Stopped, Crashed, Fenced, DownReason(7)); got != "stopped crashed fenced unknown" {
		t.Errorf("names %q", got)
	}
}
