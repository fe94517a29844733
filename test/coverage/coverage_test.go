package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const someRules = `
# a comment
CFG-1 | T | one
CFG-2 | C | two | n/a: not here
DUR-3 | CD | three
API-4 | D | a claim
P8.1 | P | a life
`

const goodTests = `package x
func TestCFG1_One(t *testing.T) {}
func TestP8_1_DUR3_Both(t *testing.T) {}
func TestSPEC3_Other(t *testing.T) {}
func TestS3Something(t *testing.T) {}
func Helper_CFG9() {}
`

// tree makes a root with the files and a page that is in step with them.
func tree(t *testing.T, rules string, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(root, "docs"), 0o750); err != nil {
		t.Fatal(err)
	}
	if _, err := run(root, rules, true); err != nil {
		t.Fatal(err)
	}
	return root
}

func found(t *testing.T, root, rules string) []string {
	t.Helper()
	problems, err := run(root, rules, false)
	if err != nil {
		t.Fatal(err)
	}
	return problems
}

func TestProblems(t *testing.T) {
	for name, c := range map[string]struct {
		rules, tests string
		says         []string // one for each problem, in order
	}{
		"all is well":                 {someRules, goodTests, nil},
		"a T without a test":          {someRules + "HSH-1 | T | hash\n", goodTests, []string{"HSH-1 has no test"}},
		"a C without a test":          {someRules + "HSH-1 | C | hash\n", goodTests, []string{"HSH-1 has no test"}},
		"a protocol rule without one": {someRules + "P8.2 | P | errors\n", goodTests, []string{"P8.2 has no test"}},
		"a D or an I without one":     {someRules + "HSH-1 | D | hash\nHSH-2 | I | hash\n", goodTests, nil},
		"n/a with a test":             {someRules, goodTests + "func TestCFG2_Two(t *testing.T) {}\n", []string{"CFG-2 is n/a (not here), but TestCFG2_Two tests it"}},
		"an unknown number":           {someRules, goodTests + "func TestCFG9_Nine(t *testing.T) {}\n", []string{"TestCFG9_Nine in x_test.go is named after CFG-9"}},
		"an unknown family":           {someRules, goodTests + "func TestCGF1_One(t *testing.T) {}\n", []string{"CGF-1"}},
		"an unknown protocol rule":    {someRules, goodTests + "func TestP8_9_Nine(t *testing.T) {}\n", []string{"P8.9"}},
		"a chapter is no rule":        {someRules, goodTests + "func TestP8_Life(t *testing.T) {}\n", []string{"named after P8,"}},
		"an unknown id in a subtest":  {someRules, goodTests + `func TestX(t *testing.T) { t.Run("CFG-9: nine", nil) }`, []string{"TestX: CFG-9: nine"}},
		"two at once": {
			someRules + "HSH-1 | T | hash\n", strings.ReplaceAll(goodTests, "CFG1", "CFG3"),
			[]string{"CFG-1 has no test", "HSH-1 has no test", "CFG-3"},
		},
	} {
		got := found(t, tree(t, c.rules, map[string]string{"x_test.go": c.tests}), c.rules)
		if !slices.EqualFunc(got, c.says, strings.Contains) {
			t.Errorf("%s: %q, want %q", name, got, c.says)
		}
	}
}

func TestStalePage(t *testing.T) {
	root := tree(t, someRules, map[string]string{"x_test.go": goodTests})
	if err := os.WriteFile(filepath.Join(root, "y_test.go"), []byte("package x\nfunc TestCFG1_More(t *testing.T) {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := found(t, root, someRules); len(got) != 1 || !strings.Contains(got[0], "stale") {
		t.Errorf("a test more: %q", got)
	}
	if err := os.Remove(filepath.Join(root, "docs", "coverage.md")); err != nil {
		t.Fatal(err)
	}
	if got := found(t, root, someRules); len(got) != 1 || !strings.Contains(got[0], "stale") {
		t.Errorf("no page: %q", got)
	}
}

func TestPage(t *testing.T) {
	root := tree(t, someRules, map[string]string{
		"x_test.go": goodTests, "a/b/y_test.go": "package y\nfunc TestCFG1_Two(t *testing.T) {}\n",
		"a/testdata/z_test.go": "no Go", own + "/z_test.go": "no Go", ".hidden/z_test.go": "no Go", "a/y.go": "no Go",
	})
	text, err := os.ReadFile(filepath.Join(root, "docs", "coverage.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"| CFG-1 | T | one | [TestCFG1_Two](../a/b/y_test.go)<br>[TestCFG1_One](../x_test.go) |",
		"| CFG-2 | C | two | n/a: not here |",
		"| DUR-3 | CD | three | [TestP8_1_DUR3_Both](../x_test.go) |",
		"| API-4 | D | a claim |  |",
		"| P8.1 | P | a life | [TestP8_1_DUR3_Both](../x_test.go) |",
	} {
		if !strings.Contains(string(text), line+"\n") {
			t.Errorf("no line %q in\n%s", line, text)
		}
	}
}

func TestSubtests(t *testing.T) {
	const tests = `package x
func TestX(t *testing.T) {
	t.Run("CFG-1: in a call", nil)
	t.Errorf("API-4: no name, but a message")
	for _, c := range []struct{ name, other string }{{"DUR-3, P8.1: in a table", ""}, {name: "by field DUR-3"}} {}
	for name := range map[string]int{"P8.1 as a key": 1, "API-49x": 2} {}
}
`
	proofs, err := scan(tree(t, someRules, map[string]string{"x_test.go": tests}))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for id, all := range proofs {
		for _, p := range all {
			got = append(got, id+" = "+p.name)
		}
	}
	slices.Sort(got)
	want := []string{
		"CFG-1 = TestX: CFG-1: in a call",
		"DUR-3 = TestX: DUR-3, P8.1: in a table",
		"P8.1 = TestX: DUR-3, P8.1: in a table",
		"P8.1 = TestX: P8.1 as a key",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}

func TestBrokenTests(t *testing.T) {
	root := tree(t, someRules, nil)
	if err := os.WriteFile(filepath.Join(root, "x_test.go"), []byte("no Go"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := run(root, someRules, false); err == nil {
		t.Error("a file that cannot be read counts as one without tests")
	}
}

func TestBadInventories(t *testing.T) {
	for _, text := range []string{
		"CFG-1 | T", "CFG-1 | X | one", "CFG-1 |  | one", "CFG-1 | T | ", "cfg-1 | T | one", "CFG1 | T | one", "CFG-1x | T | one",
		"CFG-1 | T | one | because", "CFG-1 | T | one | n/a: ", "CFG-1 | T | one\nCFG-1 | T | one", "P8 | P | life",
	} {
		if rules, err := parseRules(text); err == nil {
			t.Errorf("%q is %+v", text, rules)
		}
	}
}

func TestInventory(t *testing.T) {
	rules, err := parseRules(inventory)
	if err != nil {
		t.Fatal(err)
	}
	families := map[string]int{}
	for _, r := range rules {
		families[strings.TrimRight(r.id, "0123456789-.")]++
	}
	for family, n := range map[string]int{
		"CFG": 16, "PRB": 8, "SUP": 5, "API": 9, "CALL": 14, "HSH": 4, "HOST": 15, "SHD": 11, "DUR": 7, "STR": 3,
		"LOC": 8, "STA": 5, "DIS": 15, "LL": 25, "OL": 17, "PEER": 1, "P": 38,
	} {
		if families[family] != n {
			t.Errorf("%d rules of %s, want %d", families[family], family, n)
		}
	}
}
