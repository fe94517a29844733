package links

import (
	"context"
	"testing"
)

func TestP7_2_ARequestAndItsAnswer(t *testing.T) {
	a, b := startNode(t, "a"), startNode(t, "b")
	for range 3 {
		answer, err := a.ask(context.Background(), b.Self(), "hello")
		if err != nil || answer != "hello" {
			t.Fatalf("%q, %v", answer, err)
		}
	}
	if n := b.served.Load(); n != 3 {
		t.Errorf("served %d", n)
	}
}
