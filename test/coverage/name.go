package main

import (
	"regexp"
	"strings"
)

// elsewhere are the families of ids that tests carry and that this inventory does
// not keep: sections of the specification, and facts about stores.
var elsewhere = map[string]bool{"SPEC": true, "S": true}

var (
	chapter = regexp.MustCompile(`^P\d+$`)
	number  = regexp.MustCompile(`^\d+$`)
	numeral = regexp.MustCompile(`^([A-Z]+)(\d+)$`)
	written = regexp.MustCompile(`^(?:[A-Z]+-\d+|P\d+\.\d+)`)
)

// idsOfName gives the ids at the beginning of a function's name, as the documents
// write them: TestPRB2_PRB3_Fit has PRB-2 and PRB-3, TestP8_1_Life has P8.1. A
// chapter alone, TestP8_Life, is the id P8, which no document has.
func idsOfName(function string) []string {
	name, ok := strings.CutPrefix(function, "Test")
	if !ok {
		if name, ok = strings.CutPrefix(function, "Fuzz"); !ok {
			return nil
		}
	}
	var ids []string
	words := strings.Split(name, "_")
	for i := 0; i < len(words); i++ {
		if chapter.MatchString(words[i]) {
			id := words[i]
			if i+1 < len(words) && number.MatchString(words[i+1]) {
				i++
				id += "." + words[i]
			}
			ids = append(ids, id)
			continue
		}
		m := numeral.FindStringSubmatch(words[i])
		if m == nil {
			break
		}
		if !elsewhere[m[1]] {
			ids = append(ids, m[1]+"-"+m[2])
		}
	}
	return ids
}

// idsOfText gives the ids at the beginning of a subtest's name: "CFG-1, CFG-2: no store".
func idsOfText(text string) []string {
	var ids []string
	for {
		id, rest, ok := cutID(text)
		if !ok {
			return ids
		}
		ids = append(ids, id)
		text = strings.TrimLeft(rest, " ,:")
	}
}

// cutID takes an id, as the documents write it, from the beginning of a text.
func cutID(text string) (id, rest string, ok bool) {
	id = written.FindString(text)
	rest = text[len(id):]
	if id == "" || rest != "" && !strings.ContainsRune(" ,:", rune(rest[0])) {
		return "", text, false
	}
	return id, rest, true
}
