// Package transcript tests state machines by texts: a file has their inputs and, indented
// below each, what they do.
package transcript

import (
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

var rewrite = flag.Bool("rewrite", false, "write the transcripts in testdata anew")

// Test plays the inputs of each file testdata/*.txt to a machine of its own and compares
// what it does with the file. Start makes the machine: a function that takes an input, in
// words, and writes what is done to out, each line after two spaces. Empty lines and those
// that begin with # are for people.
func Test(t *testing.T, start func(t *testing.T, out *strings.Builder) (input func(words []string))) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) { File(t, file, start) })
	}
}

// File is [Test] for one file.
func File(t *testing.T, file string, start func(t *testing.T, out *strings.Builder) (input func(words []string))) {
	t.Helper()
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	play(string(want), start(t, &out), &out)
	if *rewrite {
		if err := os.WriteFile(file, []byte(out.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got := out.String(); got != string(want) {
		t.Errorf("%s differs (-rewrite writes it anew); got\n%s", file, got)
	}
}

// Number is the whole number that a word of an input has to be.
func Number(t *testing.T, word string) int {
	t.Helper()
	n, err := strconv.Atoi(word)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Duration is the time that a word of an input has to be.
func Duration(t *testing.T, word string) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(word)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// play repeats the inputs of a transcript, each followed by what is done.
func play(text string, input func(words []string), out *strings.Builder) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "  ") {
			continue
		}
		out.WriteString(line)
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			input(strings.Fields(line))
		}
	}
}
