package spelling

import "testing"

func TestNearest(t *testing.T) {
	candidates := []string{"shards", "settings", "store", "lease_ttl", "stare", "interval"}
	for word, want := range map[string]string{
		"shard":     "shards",
		"SHARDS":    "shards",
		"setings":   "settings",
		"lease_tll": "lease_ttl",
		"lease-ttl": "lease_ttl",
		"stor":      "store",
		"stxre":     "store", // as near as stare, and before it
		"internal":  "interval",
		"Intervall": "interval",
		"colour":    "",
		"":          "",
		"sh":        "",
		"xyz":       "",
	} {
		if got := Nearest(word, candidates); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
	if got := Nearest("word", nil); got != "" {
		t.Errorf("%q of no candidates", got)
	}
}

func TestEdits(t *testing.T) {
	for _, c := range []struct {
		from, to string
		want     int
	}{{"kitten", "sitting", 3}, {"", "four", 4}, {"four", "", 4}, {"same", "same", 0}} {
		if got := edits(c.from, c.to); got != c.want {
			t.Errorf("from %q to %q: %d, want %d", c.from, c.to, got, c.want)
		}
	}
}
