package store

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The longest key and the longest part of it between two slashes, in bytes. S3
// allows 1,024 for a key, which the store's prefix is part of; servers that keep
// objects as files allow 255 for a part.
const (
	MaxKeyLength     = 512
	MaxSegmentLength = 255
)

// CheckKey tells whether the key can name an object in every kind of store. The
// error wraps [ErrInvalidKey] and says what is wrong.
func CheckKey(key string) error {
	if problem := keyProblem(key); problem != "" {
		return fmt.Errorf("%w %q: %s", ErrInvalidKey, key, problem)
	}
	return nil
}

func keyProblem(key string) string {
	switch {
	case key == "":
		return "it is empty"
	case len(key) > MaxKeyLength:
		return fmt.Sprintf("it is longer than %d bytes", MaxKeyLength)
	case !utf8.ValidString(key):
		return "it is not valid UTF-8"
	case strings.ContainsFunc(key, unicode.IsControl):
		return "it contains a control character"
	}
	for segment := range strings.SplitSeq(key, "/") {
		if problem := segmentProblem(segment); problem != "" {
			return problem
		}
	}
	return ""
}

func segmentProblem(segment string) string {
	switch {
	case segment == "":
		return "it has an empty part: a slash at its start or end, or two in a row"
	case segment == "." || segment == "..":
		return `"." and ".." cannot be parts of a key`
	case len(segment) > MaxSegmentLength:
		return fmt.Sprintf("a part of it is longer than %d bytes", MaxSegmentLength)
	}
	return ""
}

// JoinKey joins the parts with slashes, without those that are empty: the key of
// an object below a path that may be empty.
func JoinKey(parts ...string) string {
	kept := make([]string, 0, len(parts))
	for _, part := range parts {
		if part != "" {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, "/")
}
